//! From outcomes to lines, in the order of the boards, and what there is to say in the end.

use std::sync::Arc;

use super::{
    Format,
    jsonl::{self, Form},
    lines,
    output::Output,
    progress::Progress,
    report::Report,
    resume::{Start, Tail},
};
use crate::client::{Answer, Outcome, Outcomes, Reason, Unanswered};

/// Prints the outcomes of a job.
#[derive(Debug)]
pub(super) struct Printer {
    format: Format,
    form: Form,
    limit: u32,
    lines: Output,
    progress: Progress,
    report: Report,
    from: Start,
    /// The place of the next board in the input.
    next: u64,
    /// A finished board was to be solved again and was not: nothing can be written any more.
    stuck: bool,
}

impl Printer {
    pub(super) fn to_stdout(format: Format, limit: Option<u32>) -> Printer {
        Printer::new(
            format,
            Form::Timed,
            limit,
            Output::new(None),
            Start::default(),
        )
    }

    pub(super) fn into_file(
        format: Format,
        limit: Option<u32>,
        tail: Tail,
        from: Start,
    ) -> Printer {
        Printer::new(format, Form::Named, limit, Output::new(Some(tail)), from)
    }

    fn new(format: Format, form: Form, limit: Option<u32>, lines: Output, from: Start) -> Printer {
        Printer {
            format,
            form,
            limit: limit.unwrap_or(2),
            lines,
            progress: Progress::new(),
            report: Report::default(),
            from,
            next: from.first,
            stuck: false,
        }
    }

    /// Prints every outcome; why the job ended early, if it did.
    pub(super) async fn print(
        &mut self,
        mut outcomes: Outcomes,
    ) -> anyhow::Result<Option<Arc<Reason>>> {
        while let Some(outcome) = outcomes.next().await {
            let index = self.next;
            self.next += 1;
            match outcome {
                Outcome::Answered(answer) => self.answered(&Answer { index, ..answer })?,
                Outcome::Unanswered(board) => self.unanswered(&Unanswered { index, ..board })?,
            }
            // Whoever feeds boards one at a time sees each answer as it comes.
            if outcomes.ready() == 0 || self.lines.is_full() {
                self.progress.beside(|| self.lines.flush())?;
            }
        }
        if !self.stuck {
            self.lines.finish()?;
        }
        self.progress.finish();
        Ok(outcomes.over())
    }

    fn answered(&mut self, answer: &Answer<'_>) -> serde_json::Result<()> {
        self.progress.count(answer);
        if self.stuck {
            return Ok(());
        }
        let out = self.lines.line();
        match self.format {
            Format::Lines => {
                lines::write(out, answer, self.limit);
                Ok(())
            }
            Format::Jsonl => jsonl::write(out, answer, self.form),
        }
    }

    fn unanswered(&mut self, board: &Unanswered<'_>) -> serde_json::Result<()> {
        self.progress.count_unanswered();
        self.report.note(board);
        self.stuck |= board.index < self.from.finished;
        if self.stuck {
            return Ok(());
        }
        let out = self.lines.line();
        match self.format {
            Format::Lines => {
                lines::write_unanswered(out, board);
                Ok(())
            }
            Format::Jsonl => jsonl::write_unanswered(out, board, self.form),
        }
    }

    /// Says which boards are unanswered; `true` if none is. `unread` is why the job ended before its
    /// input did, if so.
    pub(super) fn report(&self, unread: Option<&Reason>) -> bool {
        self.report.print(unread.map(|reason| (self.next, reason)));
        unread.is_none() && self.report.is_empty()
    }
}
