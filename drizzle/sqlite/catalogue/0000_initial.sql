CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`per_minute` integer,
	`per_day` integer,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	`revoked_at_ms` integer,
	`banned_until_ms` integer DEFAULT 0 NOT NULL,
	`ban_step` integer DEFAULT 0 NOT NULL,
	`ban_reason` text DEFAULT '' NOT NULL,
	`noisy_minutes` text DEFAULT '[]' NOT NULL,
	`changed_in` integer NOT NULL,
	CONSTRAINT "api_keys_plan" CHECK("api_keys"."plan" in ('free', 'pro', 'business', 'enterprise')),
	CONSTRAINT "api_keys_limits" CHECK(("api_keys"."plan" = 'enterprise') = ("api_keys"."per_minute" is not null) and ("api_keys"."per_minute" is null) = ("api_keys"."per_day" is null))
) STRICT;
--> statement-breakpoint
CREATE INDEX `api_keys_by_change` ON `api_keys` (`changed_in`);--> statement-breakpoint
CREATE TABLE `categories` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `categories_name_key_unique` ON `categories` (`name_key`);--> statement-breakpoint
CREATE TABLE `key_epoch` (
	`id` integer PRIMARY KEY NOT NULL,
	`epoch` integer NOT NULL,
	CONSTRAINT "key_epoch_one_row" CHECK("key_epoch"."id" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `key_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`key_id` text NOT NULL,
	`at_ms` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`before` text,
	`after` text NOT NULL,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `key_events_by_key` ON `key_events` (`key_id`,`id`);--> statement-breakpoint
CREATE TABLE `key_secrets` (
	`hash` blob PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`mask` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);--> statement-breakpoint
CREATE TABLE `pets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`category_id` integer NOT NULL,
	`status` text,
	`external_id` text,
	CONSTRAINT "pets_status" CHECK("pets"."status" in ('available', 'pending', 'sold')),
	CONSTRAINT "pets_name" CHECK(instr("pets"."name", char(0)) = 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `pets_by_status` ON `pets` (`status`,`id`,`name`,`category_id`) WHERE "pets"."status" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `pets_by_external_id` ON `pets` (`external_id`) WHERE "pets"."external_id" is not null;--> statement-breakpoint
INSERT INTO `key_epoch` (`id`, `epoch`) VALUES (1, 0);
