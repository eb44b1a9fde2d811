//! The manifests of `deploy/kubernetes`, as kustomize makes them: valid by the published schemas, and in
//! keeping with each other and with the program that they run.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{path::Path, process::Command, time::Duration};

use serde_json::{Value, json};

use binary::{Run, binary, envoy, peers::peers, repository, run};

/// The oldest version that has all of it, and the newest whose schemas are there.
const VERSIONS: [&str; 2] = ["1.30", "1.37"];

/// What kubectl would apply, as it is.
#[track_caller]
fn built(peers: &Path, overlay: &str) -> String {
    let mut kubectl = Command::new(peers.join("kubectl"));
    let folder = repository("deploy/kubernetes").join(overlay);
    let built = run(kubectl.arg("kustomize").arg(folder), "");
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    built.stdout
}

/// The same as values.
#[track_caller]
fn read(peers: &Path, yaml: &str) -> Vec<Value> {
    const TO_JSON: &str =
        "import json, sys, yaml; print(json.dumps([*yaml.safe_load_all(sys.stdin)]))";
    let mut python = Command::new(peers.join("python/bin/python"));
    let read = run(python.args(["-c", TO_JSON]), yaml);
    assert_eq!(read.code, Some(0), "{}", read.stderr);
    serde_json::from_str(&read.stdout).unwrap()
}

#[track_caller]
fn manifests() -> Option<Manifests> {
    let peers = peers()?;
    Some(Manifests(read(&peers, &built(&peers, "with-prometheus"))))
}

struct Manifests(Vec<Value>);

impl Manifests {
    #[track_caller]
    fn get(&self, kind: &str, name: &str) -> &Value {
        let mut all = self.0.iter();
        let found = all.find(|one| one["kind"] == kind && one["metadata"]["name"] == name);
        assert!(found.is_some(), "no {kind} {name}");
        found.unwrap()
    }

    fn pod(&self) -> &Value {
        &self.get("Deployment", "sudoku-solver")["spec"]["template"]["spec"]
    }

    fn container(&self) -> &Value {
        &self.pod()["containers"][0]
    }

    /// The value of a flag of the program.
    #[track_caller]
    fn flag(&self, name: &str) -> String {
        let begin = format!("--{name}=");
        let args = self.container()["args"].as_array().unwrap();
        let mut args = args.iter().map(|arg| arg.as_str().unwrap());
        args.find_map(|arg| arg.strip_prefix(&begin))
            .unwrap()
            .to_owned()
    }

    fn port(&self, flag: &str) -> u64 {
        let address = self.flag(flag);
        address.rsplit_once(':').unwrap().1.parse().unwrap()
    }
}

fn check_schemas(peers: &Path, version: &str, yaml: &str) -> Run {
    let mut validate = Command::new(peers.join("python/bin/kubernetes-validate"));
    run(validate.args(["--strict", "-k", version, "-"]), yaml)
}

#[test]
fn every_manifest_keeps_to_the_schema_of_kubernetes() {
    let Some(peers) = peers() else { return };
    let base = built(&peers, "base");
    let manifests = read(&peers, &base).len();
    for version in VERSIONS {
        let checked = check_schemas(&peers, version, &base);
        let said = checked.stdout + &checked.stderr;
        assert_eq!(checked.code, Some(0), "{said}");
        let passed = said
            .lines()
            .filter(|line| line.contains(" passed for "))
            .count();
        assert_eq!(passed, manifests, "{said}");

        let misspelt = base.replace("readOnlyRootFilesystem", "readOnlyRootFilesytem");
        assert_ne!(
            check_schemas(&peers, version, &misspelt).code,
            Some(0),
            "it finds nothing"
        );
    }
}

/// By the operator's own definition. It does not mind fields that it does not know.
fn check_monitor(peers: &Path, monitor: &Value) -> Run {
    const CHECK: &str = r#"
        import { readFileSync } from "node:fs";
        import { ServiceMonitor }
            from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";
        new ServiceMonitor(JSON.parse(readFileSync(0))).validate();
    "#;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", CHECK])
        .current_dir(peers.join("node"));
    run(&mut node, monitor.to_string())
}

#[test]
fn the_service_monitor_keeps_to_the_schema_of_the_operator() {
    let Some(peers) = peers() else { return };
    let manifests = manifests().unwrap();
    let mut monitor = manifests.get("ServiceMonitor", "sudoku-solver").clone();
    let checked = check_monitor(&peers, &monitor);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    monitor["spec"]["endpoints"][0]["interval"] = json!("soon");
    assert_ne!(
        check_monitor(&peers, &monitor).code,
        Some(0),
        "it finds nothing"
    );
}

#[test]
fn the_program_knows_its_flags_and_variables() {
    let Some(manifests) = manifests() else { return };
    let help = run(binary().args(["serve", "--help"]), "").stdout;
    let container = manifests.container();
    let args = container["args"].as_array().unwrap();
    assert_eq!(args[0], "serve");
    for arg in &args[1..] {
        let flag = arg.as_str().unwrap().split('=').next().unwrap();
        assert!(help.contains(&format!(" {flag} ")), "serve has no {flag}");
    }
    for variable in container["env"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        assert!(
            help.contains(&format!("[env: {name}=")),
            "serve has no {name}"
        );
    }
    let version = format!("sudoku-solver:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(container["image"], version);
}

#[test]
fn ports_lead_to_the_program() {
    let Some(manifests) = manifests() else { return };
    let (grpc, metrics) = (manifests.port("listen"), manifests.port("metrics-listen"));
    let container = manifests.container();
    let open = json!([
        {"name": "grpc", "containerPort": grpc}, {"name": "metrics", "containerPort": metrics}
    ]);
    assert_eq!(container["ports"], open);
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert_eq!(container[probe]["grpc"]["port"], grpc, "{probe}");
    }
    let ports = |service: &str| manifests.get("Service", service)["spec"]["ports"].clone();
    let served = json!({
        "name": "grpc", "port": grpc, "targetPort": "grpc", "appProtocol": "kubernetes.io/h2c"
    });
    assert_eq!(ports("sudoku-solver"), json!([served]));
    let seen = json!({"name": "metrics", "port": metrics, "targetPort": "metrics"});
    assert_eq!(ports("sudoku-solver-replicas"), json!([served, seen]));

    let monitor = manifests.get("ServiceMonitor", "sudoku-solver");
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], "metrics");
    let ingress = manifests.get("NetworkPolicy", "sudoku-solver")["spec"]["ingress"]
        .as_array()
        .unwrap();
    let allowed: Vec<_> = ingress
        .iter()
        .map(|rule| &rule["ports"][0]["port"])
        .collect();
    assert_eq!(allowed, ["grpc", "metrics"]);

    let upstream = format!("address: sudoku-solver-replicas, port_value: {grpc}");
    assert!(
        envoy::template().contains(&upstream),
        "Envoy looks elsewhere"
    );
}

#[test]
fn a_drain_has_the_time_that_it_needs() {
    let Some(manifests) = manifests() else { return };
    let container = manifests.container();
    let seconds = |value: &Value| Duration::from_secs(value.as_u64().unwrap());
    let pre_stop = seconds(&container["lifecycle"]["preStop"]["sleep"]["seconds"]);
    let grace = humantime::parse_duration(&manifests.flag("grace")).unwrap();
    let drain = pre_stop + grace + sudoku_solver::limits::LINGER;
    let until_killed = seconds(&manifests.pod()["terminationGracePeriodSeconds"]);
    assert!(
        until_killed > drain,
        "killed after {until_killed:?}, before {drain:?}"
    );

    let probe = &container["livenessProbe"];
    let failures = u32::try_from(probe["failureThreshold"].as_u64().unwrap()).unwrap();
    let dead = seconds(&probe["periodSeconds"]) * failures;
    assert!(
        dead >= until_killed,
        "a drain is taken for death after {dead:?}"
    );
}

#[test]
fn selectors_select_the_replicas_and_nothing_else() {
    let Some(manifests) = manifests() else { return };
    let deployment = &manifests.get("Deployment", "sudoku-solver")["spec"];
    let labels = &deployment["template"]["metadata"]["labels"];
    assert_eq!(labels, &json!({"app.kubernetes.io/name": "sudoku-solver"}));
    let spec = |kind, name| &manifests.get(kind, name)["spec"];
    let mut selectors = vec![
        &deployment["selector"]["matchLabels"],
        &spec("Service", "sudoku-solver")["selector"],
        &spec("Service", "sudoku-solver-replicas")["selector"],
        &spec("PodDisruptionBudget", "sudoku-solver")["selector"]["matchLabels"],
        &spec("NetworkPolicy", "sudoku-solver")["podSelector"]["matchLabels"],
        &spec("ServiceMonitor", "sudoku-solver")["selector"]["matchLabels"],
    ];
    let spread = manifests.pod()["topologySpreadConstraints"]
        .as_array()
        .unwrap();
    selectors.extend(
        spread
            .iter()
            .map(|one| &one["labelSelector"]["matchLabels"]),
    );
    for selector in selectors {
        assert_eq!(selector, labels);
    }
    let scaled = &spec("HorizontalPodAutoscaler", "sudoku-solver")["scaleTargetRef"];
    assert_eq!(
        scaled,
        &json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "sudoku-solver"})
    );
}
