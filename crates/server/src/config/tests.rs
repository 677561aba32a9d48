use super::*;

fn parse(toml: &str) -> Result<Config, String> {
    toml::from_str(toml).map_err(|error| error.to_string())
}

fn with_agent(name: &str, url: &str) -> Config {
    let agent = AgentConfig {
        url: url.parse().unwrap(),
        policy: AgentPolicy::default(),
    };
    Config {
        agents: [(name.to_owned(), agent)].into(),
        ..Config::default()
    }
}

#[test]
fn an_empty_file_is_the_default() {
    let config = parse("").unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:7878");
    assert!(config.demo.enabled && !config.allow_anonymous);
    config.check().unwrap();
}

#[test]
fn a_full_file_is_read() {
    let config = parse(
        r#"
        listen = "[::1]:0"
        allowed_hosts = ["hub.example"]
        engine = "memory"
        data = "/var/lib/threadcast"
        [retention]
        age_ms = 60000
        entries = 1000
        [demo]
        speed = "instant"
        [agents.support]
        url = "http://127.0.0.1:8000/agui"
        headers = { authorization = "Bearer s3cret" }
        keep_raw = true
        on_caller_gone = "cancel"
        silence_ms = 1500
        "#,
    )
    .unwrap();
    config.check().unwrap();
    let agent = &config.agents["support"];
    assert_eq!(agent.policy.silence, Duration::from_millis(1500));
    assert_eq!(agent.policy.connect, Duration::from_secs(5));
    assert_eq!(agent.policy.on_caller_gone, OnCallerGone::Cancel);
    assert_eq!(config.demo.speed, DemoSpeed::INSTANT);
    assert_eq!(config.engine, EngineKind::Memory);
    assert_eq!(config.data, Path::new("/var/lib/threadcast"));
    assert_eq!(config.retention.age_ms.map(u64::from), Some(60_000));
    assert_eq!(config.retention.entries.map(u64::from), Some(1000));
    assert_eq!(config.retention.bytes, None);
    assert!(!format!("{config:?}").contains("s3cret"));
}

#[test]
fn unknown_keys_are_refused() {
    for toml in [
        "lisen = 1",
        "[demo]\nsped = 1",
        "[agents.a]\nurl = \"http://a\"\nkeep_rav = true",
    ] {
        let error = parse(toml).unwrap_err();
        assert!(error.contains("unknown field"), "{toml}: {error}");
    }
}

#[test]
fn strangers_are_served_only_when_asked_for() {
    let exposed = Config {
        listen: "0.0.0.0:0".parse().unwrap(),
        ..Config::default()
    };
    assert!(matches!(exposed.check(), Err(ConfigError::Exposed { .. })));
    Config {
        allow_anonymous: true,
        ..exposed
    }
    .check()
    .unwrap();
}

#[test]
fn agents_that_cannot_be_called_are_refused_at_start() {
    assert!(matches!(
        with_agent("a", "https://x/").check(),
        Err(ConfigError::Scheme { .. })
    ));
    assert!(matches!(
        with_agent("a/b", "http://x/").check(),
        Err(ConfigError::Name { .. })
    ));
    assert!(matches!(
        with_agent("demo", "http://x/").check(),
        Err(ConfigError::DemoName)
    ));
    with_agent("a-b_c.1", "http://x/").check().unwrap();
}

#[test]
fn headers_that_frame_a_request_are_refused() {
    let with_header = |header: &str| {
        parse(&format!(
            "[agents.a]\nurl = \"http://x/\"\nheaders = {{ {header} = \"1\" }}"
        ))
        .unwrap()
        .check()
    };
    for header in [
        "content-length",
        "Transfer-Encoding",
        "connection",
        "HOST",
        "idempotency-key",
    ] {
        let found = with_header(header);
        assert!(
            matches!(found, Err(ConfigError::OwnHeader { .. })),
            "{header}: {found:?}"
        );
    }
    with_header("authorization").unwrap();
}

#[test]
fn a_password_in_a_url_is_refused_and_not_shown() {
    for url in ["http://ann:s3cret@x/", "https://s3cret@x/"] {
        let error = with_agent("a", url).check().unwrap_err();
        assert!(matches!(error, ConfigError::UserInfo { .. }), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn allowed_hosts_are_hosts_alone() {
    let listing = |host: &str| {
        Config {
            allowed_hosts: vec![host.to_owned()],
            ..Config::default()
        }
        .check()
    };
    for host in ["hub.example", "Hub", "10.0.0.1", "[::1]", "::1"] {
        listing(host).unwrap();
    }
    for host in [
        "hub.example:7878",
        "hub.example:80",
        "[::1]:80",
        "http://hub.example",
        "hub.example/x",
        "",
    ] {
        assert!(
            matches!(listing(host), Err(ConfigError::AllowedHost { .. })),
            "{host}"
        );
    }
}

#[test]
fn bounds_that_cannot_be_kept_are_refused() {
    for config in [
        Config {
            sessions_max: usize::MAX,
            ..Config::default()
        },
        Config {
            connections_max: usize::MAX,
            ..Config::default()
        },
    ] {
        assert!(matches!(config.check(), Err(ConfigError::TooMany { .. })));
    }
}

#[test]
fn speeds() {
    for (text, pause_ms) in [
        ("1", 100),
        ("2", 50),
        ("0", 0),
        ("instant", 0),
        ("0.5", 200),
    ] {
        let speed: DemoSpeed = text.parse().unwrap();
        assert_eq!(
            speed.pause(Duration::from_millis(100)),
            Duration::from_millis(pause_ms),
            "{text}"
        );
    }
    for text in ["-1", "fast", "NaN", "0.001"] {
        assert!(text.parse::<DemoSpeed>().is_err(), "{text}");
    }
}

#[test]
fn the_configuration_page_lists_every_key_with_its_default() {
    let page = include_str!("../../../../docs/configuration.md");
    let toml = page
        .split("```")
        .nth(1)
        .unwrap()
        .strip_prefix("toml")
        .unwrap();
    let documented = parse(toml).unwrap();
    let with_agent = with_agent("support", "http://127.0.0.1:8000/");
    assert_eq!(format!("{documented:?}"), format!("{with_agent:?}"));

    let table: toml::Table = toml::from_str(toml).unwrap();
    let count = |value: &toml::Value| value.as_table().map_or(0, toml::Table::len);
    let keys = table.len()
        + count(&table["demo"])
        + count(&table["retention"])
        + count(&table["agents"]["support"]);
    let Config {
        listen: _,
        allow_anonymous: _,
        allowed_hosts: _,
        sessions_max: _,
        connections_max: _,
        body_bytes_max: _,
        drain: _,
        engine: _,
        data: _,
        retention:
            RetentionConfig {
                age_ms: _,
                entries: _,
                bytes: _,
            },
        agents: _,
        demo: DemoConfig {
            enabled: _,
            speed: _,
        },
    } = &with_agent;
    let AgentConfig { url: _, policy } = &with_agent.agents["support"];
    let AgentPolicy {
        headers: _,
        keep_raw: _,
        strict: _,
        on_caller_gone: _,
        connect: _,
        response_head: _,
        silence: _,
        cancel_grace: _,
        late: _,
        outage: _,
    } = policy;
    assert_eq!(
        keys,
        12 + 2 + 3 + 1 + 10,
        "a new field, which the patterns above miss, needs its line in the page"
    );
}
