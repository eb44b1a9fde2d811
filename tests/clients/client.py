"""A grpcio client, built from the proto: client.py FOLDER_OF_GENERATED_CODE ADDRESS"""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import grpc
from sudoku.v1 import sudoku_pb2 as pb
from sudoku.v1 import sudoku_pb2_grpc as rpc

EASY = [
    line
    for line in (Path(__file__).parent.parent / "data" / "easy.txt").read_text().splitlines()
    if not line.startswith("#")
]
CLASHING = "55" + "." * 79


def solves_one(solver):
    result = solver.Solve(pb.SolveRequest(board=EASY[0])).result
    assert result.status == pb.SOLVE_STATUS_UNIQUE, result
    assert result.solution_count == 1 and len(result.solutions[0]) == 81, result
    assert all(given in (".", digit) for given, digit in zip(EASY[0], result.solutions[0]))
    assert result.solve_time.ToNanoseconds() > 0, result


def counts_up_to_a_limit(solver):
    options = pb.SolveOptions(solution_limit=1000)
    result = solver.Solve(pb.SolveRequest(board="." * 81, options=options)).result
    assert result.status == pb.SOLVE_STATUS_MULTIPLE, result.status
    assert len(set(result.solutions)) == result.solution_count == 1000


def names_the_clashes(solver):
    result = solver.Solve(pb.SolveRequest(board=CLASHING)).result
    assert result.status == pb.SOLVE_STATUS_CLASHING_GIVENS, result
    units = [(clash.unit, clash.unit_number, list(clash.cells)) for clash in result.clashes]
    assert units == [(pb.UNIT_KIND_ROW, 1, [0, 1]), (pb.UNIT_KIND_BOX, 1, [0, 1])], units


def refuses_what_is_no_board(solver):
    try:
        solver.Solve(pb.SolveRequest(board="12345"))
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
        details = dict(error.trailing_metadata())["grpc-status-details-bin"]
        assert b"google.rpc.BadRequest" in details and b"board" in details, details
    else:
        raise AssertionError("accepted")


def streams_in_order(solver):
    boards = (EASY + [CLASHING, "12345"]) * 100
    messages = (pb.SolveBatchRequest(boards=boards[i : i + 64]) for i in range(0, len(boards), 64))
    statuses = []
    for response in solver.SolveBatch(messages):
        assert response.first_index == len(statuses), response.first_index
        statuses += [result.status for result in response.results]
    one_round = [pb.SOLVE_STATUS_UNIQUE] * len(EASY)
    one_round += [pb.SOLVE_STATUS_CLASHING_GIVENS, pb.SOLVE_STATUS_MALFORMED]
    assert statuses == one_round * 100


def ends_an_empty_stream(solver):
    assert list(solver.SolveBatch(iter(()))) == []


def misses_a_deadline(solver):
    options = pb.SolveOptions(solution_limit=10_000, node_limit=0xFFFF_FFFF)
    boards = ["." * 81] * 200
    messages = iter([pb.SolveBatchRequest(boards=boards, options=options)])
    try:
        for _ in solver.SolveBatch(messages, timeout=0.05):
            pass
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
    else:
        raise AssertionError("two million solutions in 50 ms")


with grpc.insecure_channel(sys.argv[2]) as channel:
    for check in [
        solves_one,
        counts_up_to_a_limit,
        names_the_clashes,
        refuses_what_is_no_board,
        streams_in_order,
        ends_an_empty_stream,
        misses_a_deadline,
    ]:
        check(rpc.SudokuSolverStub(channel))
        print("ok", check.__name__)
print("all ok")
