CREATE TABLE `rate_windows` (
	`key_id` text PRIMARY KEY NOT NULL,
	`minute_label` integer NOT NULL,
	`minute_used` integer NOT NULL,
	`day_label` integer NOT NULL,
	`day_used` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`key_id` text NOT NULL,
	`day` integer NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`refusals` integer DEFAULT 0 NOT NULL,
	`bans` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`key_id`, `day`)
) STRICT, WITHOUT ROWID;
