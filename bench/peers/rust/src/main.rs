//! hyper with rusqlite, as Debian packages them, on tokio's threads.
use hyper::header::{HeaderValue, AUTHORIZATION, CONTENT_TYPE, LINK, RETRY_AFTER};
use hyper::service::{make_service_fn, service_fn};
use hyper::{body, Body, Method, Request, Response, Server, StatusCode};
use rusqlite::{params, Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::convert::Infallible;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

const LIST: &str = "SELECT id, name, category_id, status FROM pets WHERE id > ?1 ORDER BY id LIMIT ?2";
const LIST_BY_STATUS: &str =
    "SELECT id, name, category_id, status FROM pets WHERE status = ?3 AND id > ?1 ORDER BY id LIMIT ?2";
const GET: &str = "SELECT id, name, category_id, status FROM pets WHERE id = ?1";
const CREATE: &str = "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)";
const KEY: &str = "SELECT id, per_minute FROM api_keys WHERE hash = ?1";
const BODY_MAX_BYTES: u64 = 64 * 1024;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Available,
    Pending,
    Sold,
}

impl Status {
    fn text(self) -> &'static str {
        match self {
            Status::Available => "available",
            Status::Pending => "pending",
            Status::Sold => "sold",
        }
    }

    fn parse(text: &str) -> Option<Status> {
        [Status::Available, Status::Pending, Status::Sold].into_iter().find(|one| one.text() == text)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewPet {
    name: String,
    category_id: i64,
    status: Option<Status>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pet {
    id: i64,
    name: String,
    category_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

fn pet(row: &Row) -> rusqlite::Result<Pet> {
    let status: Option<String> = row.get(3)?;
    Ok(Pet {
        id: row.get(0)?,
        name: row.get(1)?,
        category_id: row.get(2)?,
        status: status.as_deref().and_then(Status::parse),
    })
}

/// Fixed windows of a minute, one a key, in memory.
#[derive(Default)]
struct Limiter {
    label: u64,
    used: HashMap<i64, u64>,
}

struct Windows {
    limit: u64,
    remaining: u64,
    reset: u64,
    retry_after: Option<u64>,
}

impl Limiter {
    fn take(&mut self, key: i64, limit: u64, now: u64) -> Windows {
        let label = now / 60;
        if label != self.label {
            self.label = label;
            self.used.clear();
        }
        let reset = (label + 1) * 60;
        let used = self.used.entry(key).or_insert(0);
        if *used >= limit {
            return Windows { limit, remaining: 0, reset, retry_after: Some(reset - now) };
        }
        *used += 1;
        Windows { limit, remaining: limit - *used, reset, retry_after: None }
    }
}

struct App {
    db: Connection,
    limiter: Limiter,
}

type Refusal = (StatusCode, &'static str, String);

impl App {
    /// Whose request it is, and what is left to the key.
    fn admit(&mut self, request: &Request<Body>) -> Result<Windows, Refusal> {
        let refusal = || (StatusCode::UNAUTHORIZED, "unauthorized", "The API key is invalid.".into());
        let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, key) = header.and_then(|text| text.split_once(' ')).ok_or_else(refusal)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refusal());
        }
        let hash = format!("{:x}", Sha256::digest(key.as_bytes()));
        let mut statement = self.db.prepare_cached(KEY).map_err(failure)?;
        let found = statement
            .query_row([hash], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?)))
            .optional()
            .map_err(failure)?;
        let (id, per_minute) = found.ok_or_else(refusal)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(self.limiter.take(id, per_minute, now))
    }

    fn list(&self, query: &str) -> Result<Response<Body>, Refusal> {
        let invalid = || (StatusCode::BAD_REQUEST, "invalid_request", "The query is invalid.".into());
        let (mut limit, mut after, mut status) = (20_i64, 0_i64, None);
        for (name, value) in query.split('&').filter_map(|part| part.split_once('=')) {
            match name {
                "limit" => limit = value.parse().map_err(|_| invalid())?,
                "after" => after = value.parse().map_err(|_| invalid())?,
                "status" => status = Some(Status::parse(value).ok_or_else(invalid)?),
                _ => {}
            }
        }
        if !(1..=100).contains(&limit) {
            return Err(invalid());
        }
        let text = if status.is_some() { LIST_BY_STATUS } else { LIST };
        let mut statement = self.db.prepare_cached(text).map_err(failure)?;
        let rows = match status {
            Some(one) => statement.query_map(params![after, limit + 1, one.text()], pet),
            None => statement.query_map(params![after, limit + 1], pet),
        };
        let mut pets: Vec<Pet> = rows.map_err(failure)?.collect::<Result<_, _>>().map_err(failure)?;
        let mut link = None;
        if pets.len() as i64 > limit {
            pets.truncate(limit as usize);
            let filter = status.map_or(String::new(), |one| format!("&status={}", one.text()));
            let last = pets.last().map_or(0, |last| last.id);
            link = Some(format!("</v1/pets?limit={limit}{filter}&after={last}>; rel=\"next\""));
        }
        let mut response = json(StatusCode::OK, &pets);
        if let Some(value) = link.and_then(|text| HeaderValue::from_str(&text).ok()) {
            response.headers_mut().insert(LINK, value);
        }
        Ok(response)
    }

    fn get(&self, id: &str) -> Result<Response<Body>, Refusal> {
        let missing = || (StatusCode::NOT_FOUND, "not_found", "There is no such animal.".into());
        let id: i64 = id.parse().map_err(|_| missing())?;
        let mut statement = self.db.prepare_cached(GET).map_err(failure)?;
        let found = statement.query_row([id], pet).optional().map_err(failure)?;
        found.map(|one| json(StatusCode::OK, &one)).ok_or_else(missing)
    }

    fn create(&self, bytes: &[u8]) -> Result<Response<Body>, Refusal> {
        let invalid = |error: serde_json::Error| {
            (StatusCode::BAD_REQUEST, "invalid_request", error.to_string())
        };
        let NewPet { name, category_id, status } = serde_json::from_slice(bytes).map_err(invalid)?;
        let mut statement = self.db.prepare_cached(CREATE).map_err(failure)?;
        let values = params![name, category_id, status.map(Status::text)];
        let id = statement.insert(values).map_err(failure)?;
        Ok(json(StatusCode::CREATED, &Pet { id, name, category_id, status }))
    }
}

fn failure(error: rusqlite::Error) -> Refusal {
    (StatusCode::SERVICE_UNAVAILABLE, "unavailable", error.to_string())
}

fn json<T: Serialize>(status: StatusCode, value: &T) -> Response<Body> {
    let mut response = Response::new(Body::from(serde_json::to_vec(value).unwrap_or_default()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refuse((status, code, message): Refusal) -> Response<Body> {
    json(status, &serde_json::json!({ "code": code, "message": message, "status": status.as_u16() }))
}

/// The body, read before the lock is taken; undefined above the bound.
async fn read(request: &mut Request<Body>) -> Option<body::Bytes> {
    let length = request.headers().get("content-length").and_then(|value| value.to_str().ok());
    let bytes: u64 = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    if bytes > BODY_MAX_BYTES {
        return None;
    }
    body::to_bytes(request.body_mut()).await.ok()
}

async fn answer(app: Arc<Mutex<App>>, mut request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let bytes = if request.method() == Method::POST { read(&mut request).await } else { None };
    // SQLite takes one statement at a time on a connection, and rusqlite's is not shared.
    let mut app = app.lock().expect("no thread fails while it holds the lock");
    let windows = match app.admit(&request) {
        Ok(windows) => windows,
        Err(refusal) => return Ok(refuse(refusal)),
    };
    let path = request.uri().path();
    let result = match (windows.retry_after, request.method(), path.strip_prefix("/v1/pets")) {
        (Some(_), ..) => {
            Err((StatusCode::TOO_MANY_REQUESTS, "rate_limited", "Too many requests.".into()))
        }
        (None, &Method::GET, Some("")) => app.list(request.uri().query().unwrap_or("")),
        (None, &Method::POST, Some("")) => app.create(&bytes.unwrap_or_default()),
        (None, &Method::GET, Some(rest)) => app.get(rest.trim_start_matches('/')),
        _ => Err((StatusCode::NOT_FOUND, "not_found", "There is nothing here.".into())),
    };
    let mut response = result.unwrap_or_else(refuse);
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", windows.limit.into());
    headers.insert("x-ratelimit-remaining", windows.remaining.into());
    headers.insert("x-ratelimit-reset", windows.reset.into());
    if let Some(seconds) = windows.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    Ok(response)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = Connection::open(env::var("DATABASE")?)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    if let Ok(synchronous) = env::var("SYNCHRONOUS") {
        db.pragma_update(None, "synchronous", synchronous)?;
    }
    let app = Arc::new(Mutex::new(App { db, limiter: Limiter::default() }));
    let address = ([127, 0, 0, 1], env::var("PORT")?.parse()?).into();
    let make = make_service_fn(move |_| {
        let app = app.clone();
        async move { Ok::<_, Infallible>(service_fn(move |request| answer(app.clone(), request))) }
    });
    Server::bind(&address).serve(make).await?;
    Ok(())
}
