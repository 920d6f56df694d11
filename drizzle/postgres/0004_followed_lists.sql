CREATE TABLE "rehome"."schedule" (
	"name" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"target" text NOT NULL,
	"every_ms" bigint NOT NULL,
	"next_at_ms" bigint NOT NULL,
	"tried_at_ms" bigint,
	"succeeded_at_ms" bigint,
	"failures" bigint DEFAULT 0 NOT NULL,
	"problem" text,
	"paused" text,
	CONSTRAINT "schedule_kind" CHECK ("rehome"."schedule"."kind" in ('pull', 'backup'))
);
--> statement-breakpoint
CREATE TABLE "rehome"."sources" (
	"name" text PRIMARY KEY NOT NULL,
	"preset" text,
	"account" text,
	"url" text,
	"secret" text,
	"reading" json NOT NULL,
	"complete" bigint DEFAULT 1 NOT NULL,
	"creates_categories" bigint DEFAULT 0 NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"created_by" text NOT NULL,
	"etag" text,
	"last_modified" text,
	"hash" text,
	"report" json,
	"held" json
);
