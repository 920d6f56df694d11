// Go's net/http with mattn/go-sqlite3 through database/sql, as Debian packages them.
package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

type pet struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	CategoryID int64   `json:"categoryId"`
	Status     *string `json:"status,omitempty"`
}

type newPet struct {
	Name       *string `json:"name"`
	CategoryID *int64  `json:"categoryId"`
	Status     *string `json:"status"`
}

type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Status  int    `json:"status"`
}

const columns = "SELECT id, name, category_id, status FROM pets "

type store struct{ key, list, listByStatus, get, create *sql.Stmt }

func openStore() *store {
	options := "?_journal_mode=WAL"
	if synchronous := os.Getenv("SYNCHRONOUS"); synchronous != "" {
		options += "&_synchronous=" + synchronous
	}
	db, err := sql.Open("sqlite3", "file:"+os.Getenv("DATABASE")+options)
	check(err)
	// One writer at a time is SQLite's rule; a second connection would answer "database is locked".
	db.SetMaxOpenConns(1)
	prepare := func(text string) *sql.Stmt {
		statement, err := db.Prepare(text)
		check(err)
		return statement
	}
	return &store{
		key:          prepare("SELECT id, per_minute FROM api_keys WHERE hash = ?"),
		list:         prepare(columns + "WHERE id > ? ORDER BY id LIMIT ?"),
		listByStatus: prepare(columns + "WHERE status = ? AND id > ? ORDER BY id LIMIT ?"),
		get:          prepare(columns + "WHERE id = ?"),
		create:       prepare("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)"),
	}
}

// A fixed window a key, in memory.
type limiter struct {
	sync.Mutex
	label int64
	used  map[int64]int64
}

func (l *limiter) take(key, perMinute int64, now time.Time) (remaining, reset int64, ok bool) {
	label := now.Unix() / 60
	l.Lock()
	defer l.Unlock()
	if label != l.label {
		l.label, l.used = label, map[int64]int64{}
	}
	reset = (label + 1) * 60
	if l.used[key] >= perMinute {
		return 0, reset, false
	}
	l.used[key]++
	return perMinute - l.used[key], reset, true
}

type service struct {
	*store
	limits limiter
}

func main() {
	s := &service{store: openStore()}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/pets", s.guarded(s.pets))
	mux.HandleFunc("/v1/pets/", s.guarded(s.pet))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}

func (s *service) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		sum := sha256.Sum256([]byte(key))
		var id, perMinute int64
		err := s.key.QueryRow(hex.EncodeToString(sum[:])).Scan(&id, &perMinute)
		if !strings.EqualFold(scheme, "bearer") || err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, "unauthorized", "The API key is invalid.")
			return
		}
		now := time.Now()
		remaining, reset, ok := s.limits.take(id, perMinute, now)
		header := w.Header()
		header.Set("X-RateLimit-Limit", strconv.FormatInt(perMinute, 10))
		header.Set("X-RateLimit-Remaining", strconv.FormatInt(remaining, 10))
		header.Set("X-RateLimit-Reset", strconv.FormatInt(reset, 10))
		if !ok {
			header.Set("Retry-After", strconv.FormatInt(reset-now.Unix(), 10))
			fail(w, http.StatusTooManyRequests, "rate_limited", "Too many requests.")
			return
		}
		next(w, r)
	}
}

func (s *service) pets(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		s.listPets(w, r)
	case http.MethodPost:
		s.createPet(w, r)
	default:
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "GET and POST only.")
	}
}

func (s *service) listPets(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, limitErr := number(query, "limit", 20)
	after, afterErr := number(query, "after", 0)
	status := query.Get("status")
	if limitErr != nil || afterErr != nil || limit < 1 || limit > 100 ||
		query.Has("status") && !isStatus(status) {
		fail(w, http.StatusBadRequest, "invalid_request", "The query is invalid.")
		return
	}
	var rows *sql.Rows
	var err error
	if status == "" {
		rows, err = s.list.Query(after, limit+1)
	} else {
		rows, err = s.listByStatus.Query(status, after, limit+1)
	}
	found, err := collect(rows, err)
	if err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return
	}
	if int64(len(found)) > limit {
		found = found[:limit]
		next := url.Values{"limit": {strconv.FormatInt(limit, 10)}}
		if status != "" {
			next.Set("status", status)
		}
		next.Set("after", strconv.FormatInt(found[limit-1].ID, 10))
		w.Header().Set("Link", fmt.Sprintf("</v1/pets?%s>; rel=\"next\"", next.Encode()))
	}
	send(w, http.StatusOK, found)
}

func collect(rows *sql.Rows, err error) ([]pet, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []pet{}
	for rows.Next() {
		var one pet
		if err := rows.Scan(&one.ID, &one.Name, &one.CategoryID, &one.Status); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

func (s *service) pet(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/v1/pets/"), 10, 64)
	var one pet
	if err == nil {
		err = s.get.QueryRow(id).Scan(&one.ID, &one.Name, &one.CategoryID, &one.Status)
	}
	if err != nil {
		fail(w, http.StatusNotFound, "not_found", "There is no such animal.")
		return
	}
	send(w, http.StatusOK, one)
}

func (s *service) createPet(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	var given newPet
	if err == nil {
		err = json.Unmarshal(body, &given)
	}
	if err == nil && (given.Name == nil || given.CategoryID == nil ||
		given.Status != nil && !isStatus(*given.Status)) {
		err = errors.New("name and categoryId are required")
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	result, err := s.create.Exec(*given.Name, *given.CategoryID, given.Status)
	if err != nil {
		fail(w, http.StatusServiceUnavailable, "unavailable", err.Error())
		return
	}
	id, _ := result.LastInsertId()
	send(w, http.StatusCreated, pet{id, *given.Name, *given.CategoryID, given.Status})
}

func isStatus(text string) bool {
	return text == "available" || text == "pending" || text == "sold"
}

func number(query url.Values, name string, missing int64) (int64, error) {
	if !query.Has(name) {
		return missing, nil
	}
	return strconv.ParseInt(query.Get(name), 10, 64)
}

func send(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	check(json.NewEncoder(w).Encode(value))
}

func fail(w http.ResponseWriter, status int, code, message string) {
	send(w, status, problem{code, message, status})
}

func check(err error) {
	if err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		log.Print(err)
	}
}
