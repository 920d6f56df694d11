CREATE TABLE `changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at_ms` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`summary` text NOT NULL,
	`categories` text,
	`undoes` integer,
	`undone_in` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`key_id` text NOT NULL,
	`value` text NOT NULL,
	`body_hash` blob NOT NULL,
	`pet_id` integer NOT NULL,
	`at_ms` integer NOT NULL,
	PRIMARY KEY(`key_id`, `value`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_time` ON `idempotency_keys` (`at_ms`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`hash` blob PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`used_at_ms` integer,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `invitations_by_person` ON `invitations` (`person_id`);--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`created_by` text NOT NULL,
	`removed_at_ms` integer,
	CONSTRAINT "people_role" CHECK("people"."role" in ('staff', 'operator'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `pet_events` (
	`pet_id` integer NOT NULL,
	`change_id` integer NOT NULL,
	`before` text,
	`after` text,
	PRIMARY KEY(`pet_id`, `change_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pet_events_by_change` ON `pet_events` (`change_id`);--> statement-breakpoint
CREATE TABLE `removed_pets` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`category_id` integer NOT NULL,
	`status` text,
	`external_id` text,
	`source` text DEFAULT '' NOT NULL,
	`created_at_ms` integer,
	`created_by` text,
	`created_in` integer,
	`removed_at_ms` integer NOT NULL,
	`removed_in` integer NOT NULL,
	CONSTRAINT "removed_pets_status" CHECK("removed_pets"."status" in ('available', 'pending', 'sold'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `removed_pets_by_source` ON `removed_pets` (`source`,`external_id`) WHERE "removed_pets"."external_id" is not null;--> statement-breakpoint
CREATE TABLE `sessions` (
	`hash` blob PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`seen_at_ms` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `sessions_by_person` ON `sessions` (`person_id`);--> statement-breakpoint
CREATE TABLE `store_state` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT;
--> statement-breakpoint
DROP INDEX `pets_by_external_id`;--> statement-breakpoint
ALTER TABLE `pets` ADD `source` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `pets` ADD `created_at_ms` integer;--> statement-breakpoint
ALTER TABLE `pets` ADD `created_by` text;--> statement-breakpoint
ALTER TABLE `pets` ADD `created_in` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `pets_by_source` ON `pets` (`source`,`external_id`) WHERE "pets"."external_id" is not null;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `read_only` integer DEFAULT 0 NOT NULL;