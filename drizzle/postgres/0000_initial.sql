CREATE TABLE "rehome"."api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text NOT NULL,
	"per_minute" bigint,
	"per_day" bigint,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"revoked_at_ms" bigint,
	"banned_until_ms" bigint DEFAULT 0 NOT NULL,
	"ban_step" bigint DEFAULT 0 NOT NULL,
	"ban_reason" text DEFAULT '' NOT NULL,
	"noisy_minutes" json DEFAULT '[]'::json NOT NULL,
	"changed_in" bigint NOT NULL,
	CONSTRAINT "api_keys_plan" CHECK ("rehome"."api_keys"."plan" in ('free', 'pro', 'business', 'enterprise')),
	CONSTRAINT "api_keys_limits" CHECK (("rehome"."api_keys"."plan" = 'enterprise') = ("rehome"."api_keys"."per_minute" is not null) and ("rehome"."api_keys"."per_minute" is null) = ("rehome"."api_keys"."per_day" is null))
);
--> statement-breakpoint
CREATE TABLE "rehome"."catalogue" (
	"id" bigint PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"animals" bigint NOT NULL,
	CONSTRAINT "catalogue_one_row" CHECK ("rehome"."catalogue"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "rehome"."categories" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"name_key" text NOT NULL,
	CONSTRAINT "categories_name_key_unique" UNIQUE("name_key")
);
--> statement-breakpoint
CREATE TABLE "rehome"."key_epoch" (
	"id" bigint PRIMARY KEY NOT NULL,
	"epoch" bigint NOT NULL,
	CONSTRAINT "key_epoch_one_row" CHECK ("rehome"."key_epoch"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "rehome"."key_events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rehome"."key_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"key_id" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"before" json,
	"after" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rehome"."key_secrets" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"mask" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "rehome"."pets" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "rehome"."pets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"category_id" bigint NOT NULL,
	"status" text,
	"external_id" text,
	CONSTRAINT "pets_status" CHECK ("rehome"."pets"."status" in ('available', 'pending', 'sold'))
);
--> statement-breakpoint
CREATE TABLE "rehome"."rate_windows" (
	"key_id" text PRIMARY KEY NOT NULL,
	"minute_label" bigint NOT NULL,
	"minute_used" bigint NOT NULL,
	"day_label" bigint NOT NULL,
	"day_used" bigint NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "rehome"."usage_days" (
	"key_id" text NOT NULL,
	"day" bigint NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"refusals" bigint DEFAULT 0 NOT NULL,
	"bans" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_days_key_id_day_pk" PRIMARY KEY("key_id","day")
);
--> statement-breakpoint
ALTER TABLE "rehome"."key_events" ADD CONSTRAINT "key_events_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "rehome"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rehome"."key_secrets" ADD CONSTRAINT "key_secrets_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "rehome"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_by_change" ON "rehome"."api_keys" USING btree ("changed_in");--> statement-breakpoint
CREATE INDEX "key_events_by_key" ON "rehome"."key_events" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "key_secrets_by_key" ON "rehome"."key_secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "pets_by_status" ON "rehome"."pets" USING btree ("status","id") WHERE "rehome"."pets"."status" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "pets_by_external_id" ON "rehome"."pets" USING btree ("external_id") WHERE "rehome"."pets"."external_id" is not null;--> statement-breakpoint
INSERT INTO "rehome"."key_epoch" ("id", "epoch") VALUES (1, 0);--> statement-breakpoint
INSERT INTO "rehome"."catalogue" ("id", "version", "animals") VALUES (1, 0, 0);
