CREATE TABLE "rehome"."changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rehome"."changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at_ms" bigint NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"summary" json NOT NULL,
	"categories" json,
	"undoes" bigint,
	"undone_in" bigint
);
--> statement-breakpoint
CREATE TABLE "rehome"."idempotency_keys" (
	"key_id" text NOT NULL,
	"value" text NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"pet_id" bigint NOT NULL,
	"at_ms" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_key_id_value_pk" PRIMARY KEY("key_id","value")
);
--> statement-breakpoint
CREATE TABLE "rehome"."invitations" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"person_id" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"used_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "rehome"."people" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"created_by" text NOT NULL,
	"removed_at_ms" bigint,
	CONSTRAINT "people_role" CHECK ("rehome"."people"."role" in ('staff', 'operator'))
);
--> statement-breakpoint
CREATE TABLE "rehome"."pet_events" (
	"pet_id" bigint NOT NULL,
	"change_id" bigint NOT NULL,
	"before" json,
	"after" json,
	CONSTRAINT "pet_events_pet_id_change_id_pk" PRIMARY KEY("pet_id","change_id")
);
--> statement-breakpoint
CREATE TABLE "rehome"."removed_pets" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"category_id" bigint NOT NULL,
	"status" text,
	"external_id" text,
	"source" text DEFAULT '' NOT NULL,
	"created_at_ms" bigint,
	"created_by" text,
	"created_in" bigint,
	"removed_at_ms" bigint NOT NULL,
	"removed_in" bigint NOT NULL,
	CONSTRAINT "removed_pets_status" CHECK ("rehome"."removed_pets"."status" in ('available', 'pending', 'sold'))
);
--> statement-breakpoint
CREATE TABLE "rehome"."sessions" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"person_id" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"seen_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rehome"."store_state" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
DROP INDEX "rehome"."pets_by_external_id";--> statement-breakpoint
ALTER TABLE "rehome"."api_keys" ADD COLUMN "read_only" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rehome"."pets" ADD COLUMN "source" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rehome"."pets" ADD COLUMN "created_at_ms" bigint;--> statement-breakpoint
ALTER TABLE "rehome"."pets" ADD COLUMN "created_by" text;--> statement-breakpoint
ALTER TABLE "rehome"."pets" ADD COLUMN "created_in" bigint;--> statement-breakpoint
ALTER TABLE "rehome"."invitations" ADD CONSTRAINT "invitations_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "rehome"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rehome"."sessions" ADD CONSTRAINT "sessions_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "rehome"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_time" ON "rehome"."idempotency_keys" USING btree ("at_ms");--> statement-breakpoint
CREATE INDEX "invitations_by_person" ON "rehome"."invitations" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "pet_events_by_change" ON "rehome"."pet_events" USING btree ("change_id");--> statement-breakpoint
CREATE INDEX "removed_pets_by_source" ON "rehome"."removed_pets" USING btree ("source","external_id") WHERE "rehome"."removed_pets"."external_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_by_person" ON "rehome"."sessions" USING btree ("person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pets_by_source" ON "rehome"."pets" USING btree ("source","external_id") WHERE "rehome"."pets"."external_id" is not null;