CREATE TABLE `schedule` (
	`name` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`target` text NOT NULL,
	`every_ms` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`tried_at_ms` integer,
	`succeeded_at_ms` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`problem` text,
	`paused` text,
	CONSTRAINT "schedule_kind" CHECK("schedule"."kind" in ('pull', 'backup'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `sources` (
	`name` text PRIMARY KEY NOT NULL,
	`preset` text,
	`account` text,
	`url` text,
	`secret` text,
	`reading` text NOT NULL,
	`complete` integer DEFAULT 1 NOT NULL,
	`creates_categories` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`created_by` text NOT NULL,
	`etag` text,
	`last_modified` text,
	`hash` text,
	`report` text,
	`held` text
) STRICT;
