-- Somebody whose name another person has gets a number behind it; the start says so.
INSERT INTO "store_state" ("name", "value")
SELECT 'people_renamed', group_concat("name", ', ') FROM (
	SELECT "name" FROM "people" WHERE "removed_at_ms" IS NULL GROUP BY "name" HAVING count(*) > 1 ORDER BY "name"
) AS "doubles" HAVING count(*) > 0;
--> statement-breakpoint
UPDATE "people" SET "name" = "later"."name" FROM (
	SELECT "id", "place", "name" || ' (' || "place" || ')' AS "name" FROM (
		SELECT "id", "name", row_number() OVER (PARTITION BY "name" ORDER BY "created_at_ms", "id") AS "place"
		FROM "people" WHERE "removed_at_ms" IS NULL
	) AS "places"
) AS "later" WHERE "later"."id" = "people"."id" AND "later"."place" > 1;
--> statement-breakpoint
UPDATE "people" SET "name" = "later"."name" FROM (
	SELECT "id", "place", "name" || ' ' || "id" AS "name" FROM (
		SELECT "id", "name", row_number() OVER (PARTITION BY "name" ORDER BY "created_at_ms", "id") AS "place"
		FROM "people" WHERE "removed_at_ms" IS NULL
	) AS "places"
) AS "later" WHERE "later"."id" = "people"."id" AND "later"."place" > 1;
--> statement-breakpoint
CREATE UNIQUE INDEX `people_by_name` ON `people` (`name`) WHERE "people"."removed_at_ms" is null;
