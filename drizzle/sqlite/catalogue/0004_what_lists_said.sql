CREATE TABLE `category_words` (
	`name_key` text NOT NULL,
	`change_id` integer NOT NULL,
	`category_id` integer NOT NULL,
	PRIMARY KEY(`name_key`, `change_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `list_entries` (
	`source` text NOT NULL,
	`entry` text NOT NULL,
	`change_id` integer NOT NULL,
	`pet_id` integer,
	`presence` text NOT NULL,
	`name` text,
	`category` text,
	`status` text,
	PRIMARY KEY(`source`, `entry`, `change_id`),
	CONSTRAINT "list_entries_presence" CHECK("list_entries"."presence" in ('there', 'gone', 'left out'))
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Version 1.0.0 kept the source of an id in the id alone.
UPDATE pets SET source = substr(external_id, 1, instr(external_id, ':') - 1)
WHERE source = '' AND created_at_ms IS NULL AND instr(external_id, ':') > 1 AND NOT EXISTS (
  SELECT 1 FROM pets AS other
  WHERE other.source = substr(pets.external_id, 1, instr(pets.external_id, ':') - 1)
    AND other.external_id = pets.external_id
);
--> statement-breakpoint
UPDATE removed_pets SET source = substr(external_id, 1, instr(external_id, ':') - 1)
WHERE source = '' AND created_at_ms IS NULL AND instr(external_id, ':') > 1;
