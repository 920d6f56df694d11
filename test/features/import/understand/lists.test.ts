/**
 * Lists as shelters' programs, cities and people write them, with the traps of each, and what an
 * import makes of them; all made up. A file of test/fixtures/import stands as `@NAME`.
 */
import { expect, test } from "bun:test";
import type { Given } from "../../../../src/features/import/understand/propose.ts";
import { brief, fixture, readWhole } from "../helpers.ts";

/** Each list: what it shows, its text, its format with what was told of it, and its animals. */
const lists = `
# Petfinder: pages after one another, HTML entities decoded, found animals skipped
@petfinder.json
=> petfinder
1 Vihan & Zoran / Dog / available [petfinder:120001]
2 O'Malley été / Small & Furry / sold [petfinder:120002]
3 gone: status "found" [petfinder:120003]
4  / Cat / available [petfinder:120004]
5 rejected: type: expected a value, found nothing
6 GABBY 403433 / Bird / available [petfinder:120006]
# ASM3's own export, which has more of an animal in rows of their own
ANIMALID,ANIMALCODE,ANIMALNAME,ANIMALSPECIES,ANIMALDECEASEDDATE,ANIMALNOTFORADOPTION,ANIMALNONSHELTER,MOVEMENTTYPE,MOVEMENTDATE,VACCINATIONTYPE
1,A1,Rex,Dog,,0,0,0,,
,A1,Rex,,,,,,,Rabies
2,A2,Tom,Cat,,0,0,1,11/03/2026,
3,A3,Kim,Cat,,1,0,0,,
4,A4,Bo,Dog,11/03/2026,0,0,0,,
5,A5,Lu,Dog,,0,1,0,,
=> asm
2 Rex / Dog / available [asm:1]
3 gone: more of the animal above
4 Tom / Cat / sold [asm:2]
5 gone: not available for adoption [asm:3]
6 gone: deceased [asm:4]
7 gone: not a shelter animal [asm:5]
# ASM3: only animals that are or were up for adoption
@asm.json
=> asm
1 Rolo / Dog / available [asm:501]
2 Pepper / Cat / pending [asm:502]
3 Sunny / Cat / sold [asm:503]
4 gone: left the shelter otherwise than by adoption [asm:504]
5 gone: deceased [asm:505]
6 gone: not a shelter animal [asm:506]
7 gone: not available for adoption [asm:507]
8  / Guinea Pig / available [asm:508]
9 rejected: SPECIESNAME: expected a value, found nothing
# Long Beach, King County and Dallas by their columns
@long-beach.csv
=> long-beach
2 bella / cat / sold [long-beach:A700001]
3  / dog / available [long-beach:A700002]
4 gone: outcome_type "euthanasia" [long-beach:A700003]
# Long Beach, King County and Dallas by their columns (2)
@king-county.csv
=> king-county
2  / Cat / available [king-county:A800001]
3 gone: Record_Type "LOST" [king-county:A800002]
4 gone: Record_Type "FOUND" [king-county:A800003]
# Long Beach, King County and Dallas by their columns (3)
@dallas.csv
=> dallas
2  / DOG / sold [dallas:A600001]
3  / CAT / available [dallas:A600002]
4 gone: Outcome_Type "RETURNED TO OWNER" [dallas:A600003]
# our own export: exact, a line that is cut is rejected and the next one read
@rehome.ndjson
=> rehome
1 Rex / 9223372036854775807 / available [asm:1]
3  / -3 / none
4 rejected: : not JSON: Unexpected EOF
5 Last, no newline / 12 / sold
# an export for people has the number of a category without a name
Number,Name,Category,Status,Number at the source,Source
1,Rex,3,available,,
2,Tom,Cat,sold,,
=> rehome
2 Rex / 3 / available
3 Tom / Cat / sold
# a text of digits is one in CSV
name,categoryId
a, 8 
=> rehome
2 a / 8 / none
# names columns whatever their case, and one with a comma in quotes
@other.csv
=> map {"columns": {"name": "pet name", "categoryId": "Kind, or species", "status": "State", "externalId": "Tag"}}
2 Bo / Dog / available [T-1]
3  / 7 / pending [T-2]
4 gone: State "Stray" [T-3]
# Austin since May 2025, and Kaggle's copy of it in camel case
@austin-2025.csv
=> austin
2 Waffle / Dog / sold [austin:A990001]
3 Nutmeg / Cat / available [austin:A990002]
4 gone: Outcome Status "Euthanasia" [austin:A990003]
5 gone: Outcome Status "Return to Owner" [austin:A990004]
6 Pickle / Dog / sold [austin:A990004]
# Austin since May 2025, and Kaggle's copy of it in camel case (2)
@kaggle.csv
=> austin
2 gone: OutcomeType "Return_to_owner" [austin:A970001]
3 gone: OutcomeType "Euthanasia" [austin:A970002]
4 Bramble / Dog / sold [austin:A970003]
5 gone: OutcomeType "Transfer" [austin:A970004]
# PetPoint: title rows above the header, stages
@petpoint.csv
=> petpoint
5 Clover / Dog / available [petpoint:A0060001234]
6 Mittens / Cat / pending [petpoint:A0060001235]
7 gone: Stage "Bite Quarantine" [petpoint:A0060001236]
8 gone: Stage "Released" [petpoint:A0060001237]
9 Star / Dog / available [petpoint:A0060001238]
10 gone: Stage "Unassigned" [petpoint:A0060001239]
11 gone: Stage "Hold - Stray" [petpoint:A0060001240]
# ASM: each of its flags decides as the program itself does
@asm-flags.csv
=> asm
2 Plain / Dog / available [asm:601]
3 Foster / Dog / available [asm:602]
4 gone: hold [asm:603]
5 gone: quarantine [asm:604]
6 gone: cruelty case [asm:605]
7 Reserved / Cat / pending [asm:606]
8 Trial / Cat / pending [asm:607]
9 Home / Cat / sold [asm:608]
10 gone: permanent foster [asm:609]
11 Elsewhere / Cat / available [asm:610]
12 gone: left the shelter otherwise than by adoption [asm:611]
13 gone: at a retailer [asm:612]
14 gone: boarding [asm:613]
15 Promised / Cat / pending [asm:614]
16 gone: deceased [asm:615]
# ASM: a report names the movement, and when the animal came back
id,sheltercode,animalname,speciesname,movementtype,istrial,returndate,deceaseddate
1,C1,Adopted,Cat,Adoption,0.0,,
2,C2,Trial,Cat,Adoption,1.0,,
3,C3,Sent,Cat,Transfer,0.0,,
4,C4,Fetched,Cat,Reclaimed,0.0,,
5,C5,Back,Cat,Adoption,0.0,2026-01-02,
6,C6,Fostered,Cat,Foster,,,
7,C7,There,Cat,,,,
8,C8,Late,Cat,Adoption,0.0,,2026-01-03
9,C9,Moved,Cat,Beamed up,,,
10,C10,Odd,Cat,constructor,,,
=> asm
2 Adopted / Cat / sold [asm:1]
3 Trial / Cat / pending [asm:2]
4 gone: left the shelter otherwise than by adoption [asm:3]
5 gone: left the shelter otherwise than by adoption [asm:4]
6 Back / Cat / available [asm:5]
7 Fostered / Cat / available [asm:6]
8 There / Cat / available [asm:7]
9 gone: deceased [asm:8]
10 rejected: movementtype: unknown status "Beamed up"
11 rejected: movementtype: unknown status "constructor"
# ASM: its word takes an animal out whose few flags say nothing against it
id,sheltercode,animalname,speciesname,deceaseddate,adoptionstatus
1,D1,Rex,Dog,,Not For Adoption
2,D2,Lu,Dog,,Reserved
3,D3,Bo,Dog,,Adoptable
4,D4,Mia,Dog,,In our words
5,D5,Kim,Dog,,
6,D6,Tom,Dog,2026-01-01,Adoptable
=> asm
2 gone: adoptionstatus "Not For Adoption" [asm:1]
3 Lu / Dog / pending [asm:2]
4 Bo / Dog / available [asm:3]
5 Mia / Dog / available [asm:4]
6 Kim / Dog / available [asm:5]
7 gone: deceased [asm:6]
# PetPoint: an outcome counts more than the stage that the animal had before it
Animal #,ARN,Animal Name,Species,Stage,Intake Date/Time,Outcome Type
A1,,Clover,Dog,Available,11/1/2026,Adoption
A2,,Rusty,Dog,Available,11/1/2026,Euthanasia
A3,,Daisy,Dog,Available,11/1/2026,
A4,,Max,Dog,Available,11/1/2026,Transport
=> petpoint
2 Clover / Dog / sold [petpoint:A1]
3 gone: Outcome Type "Euthanasia" [petpoint:A2]
4 Daisy / Dog / available [petpoint:A3]
5 gone: Outcome Type "Transport" [petpoint:A4]
# PetPoint: the day of an outcome counts, though nothing says how
Animal #,Animal Name,Species,Stage,Outcome Date,Outcome Type
A1,Left,Dog,Available,1/3/2026,
A2,Home,Dog,Adopted,1/3/2026,
A3,There,Dog,Available,N/A,
=> petpoint
2 gone: Outcome Date "1/3/2026" [petpoint:A1]
3 Home / Dog / sold [petpoint:A2]
4 There / Dog / available [petpoint:A3]
# an animal without an outcome may still be dead, or not for adoption
Name,Type,Impound Number,Animal ID,Outcome Type,Outcome Subtype,Outcome Condition
A,DOG,K1,A1,,,DEAD
B,DOG,K2,A2,,INTERNET,
C,DOG,K3,A3,,,HEALTHY
=> sonoma
2 gone: Outcome Condition "DEAD" [sonoma:A1]
3 gone: Outcome Subtype "INTERNET" [sonoma:A2]
4 C / DOG / available [sonoma:A3]
# an animal without an outcome may still be dead, or not for adoption (2)
Animal_Id,Animal_Type,Animal_Breed,Kennel_Status,Outcome_Type
A1,DOG,MIX,UNAVAILABLE,
A2,DOG,MIX,IMPOUNDED,
A3,DOG,MIX,UNAVAILABLE,ADOPTION
=> dallas
2 gone: Kennel_Status "UNAVAILABLE" [dallas:A1]
3  / DOG / available [dallas:A2]
4  / DOG / sold [dallas:A3]
# a column without a name, such as the index that pandas writes, is no field
,Animal ID,Name,Animal Type,Outcome Type,MonthYear
0,A1,Rex,Dog,Adoption,m
1,A2,Lu,Dog,,m
=> austin
2 Rex / Dog / sold [austin:A1]
3 Lu / Dog / available [austin:A2]
# a column without a name, such as the index that pandas writes, is no field (2)
,Animal_Id,Animal_Type,Animal_Breed,Kennel_Status,Outcome_Type
0,A1,DOG,MIX,LAB,
=> dallas
2  / DOG / available [dallas:A1]
# of a column that the header has twice both count
Animal ID,Animal Name,Animal Type,Outcome Type,Outcome Date,Outcome is dead,Outcome Type
A1,Rex,Dog,,2026-02-01,no,Adoption
A2,Lu,Dog,Adoption,2026-02-01,no,Adoption
A3,Bo,Dog,Adoption,2026-02-01,no,Euthanasia
=> long-beach
2 Rex / Dog / sold [long-beach:A1]
3 Lu / Dog / sold [long-beach:A2]
4 gone: Outcome Type "Euthanasia" [long-beach:A3]
# RescueGroups: the status that a record refers to, named behind all animals
@rescuegroups-statuses.json
=> rescuegroups
1 Ember / Dog / available [rescuegroups:7101]
2 Slate / Dog / pending [rescuegroups:7102]
3 gone: status "Deceased" [rescuegroups:7103]
4 Flint / Dog / sold [rescuegroups:7104]
5 rejected: status: unknown status "77"
# San Jose's ids are its own
AnimalID,AnimalName,AnimalType,IntakeDate,IntakeCondition,IntakeType,OutcomeDate,OutcomeType,IntakeReason,Crossing,LastUpdate
A1,Rex,DOG,2026-01-02,HEALTHY,STRAY,,,r,c,u
=> san-jose
2 Rex / DOG / available [san-jose:A1]
# Louisville gives no names
AnimalID,AnimalType,IntakeDate,OutcomeType,OutcomeAsilomarStatus
A1,CAT,2026-01-02,,
=> louisville
2  / CAT / available [louisville:A1]
# what lies in the freezer, or came to the clinic, is not for adoption
Name,Type,Impound Number,Kennel Number,Days in Shelter,Animal ID,Intake Type,Outcome Type,Outcome Date
REX,DOG,K1,DA02,3,A1,STRAY,,
BO,CAT,K2,FREEZER,3,A2,CONFISCATE,,
AL,CAT,K3,CA01,1,A3,S/N CLINIC,,
=> sonoma
2 REX / DOG / available [sonoma:A1]
3 gone: Kennel Number "FREEZER" [sonoma:A2]
4 gone: Intake Type "S/N CLINIC" [sonoma:A3]
# PetPoint: residents, and who waits for a foster home, are not for adoption
ARN,AnimalNumber,AnimalName,Species,Stage
Zeus,A0058955507,Gweneth,Rodent,Permanent Resident
Zeus,A0058955559,Margret,Cat,PTS
,A0058955576,Maria,Cat,Pending Foster Pickup
,A0058955669,Trinity,Cat,Available
=> petpoint
2 gone: Stage "Permanent Resident" [petpoint:A0058955507]
3 gone: Stage "PTS" [petpoint:A0058955559]
4 gone: Stage "Pending Foster Pickup" [petpoint:A0058955576]
5 Trinity / Cat / available [petpoint:A0058955669]
# animals that stand under their names have them
{"Rex":{"breed":"Akita"},"Bo":{"breed":"Pug"}}
=> map {"category": "Dog", "defaultStatus": "available"}
1 Rex / Dog / available [Rex]
2 Bo / Dog / available [Bo]
# animals by their ids are a list, also with a date as a list of numbers
{"A1":{"nome":"Rex","especie":"Cachorro","data":[2026,5,6],"situacao":"Disponível"},"A2":{"nome":"Bo","especie":"Cachorro","data":[2026,5,6],"situacao":"Disponível"}}
=> map
1 Rex / Cachorro / available [A1]
2 Bo / Cachorro / available [A2]
# of two lists, the one under the name of animals is read
{"usuarios":[{"nome":"Ana","email":"ana@example.org"}],"animais":[{"nome":"Rex","especie":"Cachorro","situacao":"Disponível"}]}
=> map
1 Rex / Cachorro / available
# may be said of all
Tag,Pet,Kind
1,Rex,Dog
=> map {"defaultStatus": "pending"}
2 Rex / Dog / pending [1]`;

const cases = lists.split(/^# /m).slice(1);

test.each(cases.map((each) => [each.split("\n", 1)[0] ?? "", each] as const))(
  "%s",
  async (title, each) => {
    const [text = "", format = "", told = "", found = ""] = each
      .slice(title.length + 1)
      .split(/^=> ([\w-]+) ?(.*)\n/m);
    const input = text.startsWith("@") ? await fixture(text.slice(1).trim()) : text;
    const given = JSON.parse(told || "{}") as Given;
    const { outcomes, ...read } = await readWhole(input, given);
    expect([read.format, ...outcomes.map(brief)]).toEqual([format, ...found.trim().split("\n")]);
  },
);
