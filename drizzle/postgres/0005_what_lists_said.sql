CREATE TABLE "rehome"."category_words" (
	"name_key" text NOT NULL,
	"change_id" bigint NOT NULL,
	"category_id" bigint NOT NULL,
	CONSTRAINT "category_words_name_key_change_id_pk" PRIMARY KEY("name_key","change_id")
);
--> statement-breakpoint
CREATE TABLE "rehome"."list_entries" (
	"source" text NOT NULL,
	"entry" text NOT NULL,
	"change_id" bigint NOT NULL,
	"pet_id" bigint,
	"presence" text NOT NULL,
	"name" text,
	"category" text,
	"status" text,
	CONSTRAINT "list_entries_source_entry_change_id_pk" PRIMARY KEY("source","entry","change_id"),
	CONSTRAINT "list_entries_presence" CHECK ("rehome"."list_entries"."presence" in ('there', 'gone', 'left out'))
);
--> statement-breakpoint
-- Version 1.0.0 kept the source of an id in the id alone.
UPDATE "rehome"."pets" SET source = substr(external_id, 1, strpos(external_id, ':') - 1)
WHERE source = '' AND created_at_ms IS NULL AND strpos(external_id, ':') > 1 AND NOT EXISTS (
  SELECT 1 FROM "rehome"."pets" AS other
  WHERE other.source = substr("rehome"."pets".external_id, 1, strpos("rehome"."pets".external_id, ':') - 1)
    AND other.external_id = "rehome"."pets".external_id
);
--> statement-breakpoint
UPDATE "rehome"."removed_pets" SET source = substr(external_id, 1, strpos(external_id, ':') - 1)
WHERE source = '' AND created_at_ms IS NULL AND strpos(external_id, ':') > 1;
