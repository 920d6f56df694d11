/**
 * Lists as shelters' programs, cities and people write them, with the traps of each, and what an
 * import makes of them; all made up. A file of test/fixtures/import stands as `@NAME`.
 */
import { expect, test } from "bun:test";
import { fieldMapText } from "../../../../src/features/import/understand/columns.ts";
import type { Given } from "../../../../src/features/import/understand/propose.ts";
import { brief, fixture, readWhole, refusal } from "../helpers.ts";

/**
 * Each list: what it shows, what is told of it behind `<`, its text, and behind `=>` its format
 * with the columns that were guessed and its animals, or a part of what is said against it.
 */
const lists = `
# Petfinder: HTML entities decoded, found animals skipped
@petfinder.json
=> petfinder
1 Vihan & Zoran / Dog / available [petfinder:120001]
2 O'Malley été / Small & Furry / sold [petfinder:120002]
3 gone: status "found" [petfinder:120003]
4  / Cat / available [petfinder:120004]
5 rejected: type: expected a value, found nothing
# ASM3's own export, without vaccinations in rows of their own
ANIMALID,ANIMALCODE,ANIMALNAME,ANIMALSPECIES,ANIMALDECEASEDDATE,ANIMALNOTFORADOPTION,ANIMALNONSHELTER,MOVEMENTTYPE,MOVEMENTDATE,VACCINATIONTYPE
1,A1,Rex,Dog,,0,0,0,,
2,A2,Tom,Cat,,0,0,1,11/03/2026,
3,A3,Kim,Cat,,1,0,0,,
4,A4,Bo,Dog,11/03/2026,0,0,0,,
5,A5,Lu,Dog,,0,1,0,,
=> asm
2 Rex / Dog / available [asm:1]
3 Tom / Cat / sold [asm:2]
4 gone: ANIMALNOTFORADOPTION "1" [asm:3]
5 gone: ANIMALDECEASEDDATE "11/03/2026" [asm:4]
6 gone: ANIMALNONSHELTER "1" [asm:5]
# ASM3: only animals that are or were up for adoption
@asm.json
=> asm
1 Rolo / Dog / available [asm:501]
2 gone: NONSHELTERANIMAL 1 [asm:506]
3 gone: ISNOTAVAILABLEFORADOPTION 1 [asm:507]
4  / Guinea Pig / available [asm:508]
5 rejected: SPECIESNAME: expected a value, found nothing
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
# names columns whatever their case, and one with a comma in quotes
< {"columns": {"name": "pet name", "categoryId": "Kind, or species", "status": "State", "externalId": "Tag"}}
@other.csv
=> map told name=pet name,categoryId="Kind, or species",status=State,externalId=Tag
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
4 gone: ishold "1" [asm:603]
5 gone: isquarantine "1" [asm:604]
6 gone: crueltycase "1" [asm:605]
7 Reserved / Cat / pending [asm:606]
8 Trial / Cat / pending [asm:607]
9 Home / Cat / sold [asm:608]
10 gone: haspermanentfoster "1" [asm:609]
11 Elsewhere / Cat / available [asm:610]
12 gone: activemovementtype "3" [asm:611]
13 gone: activemovementtype "8" [asm:612]
14 gone: hasactiveboarding "1" [asm:613]
15 Promised / Cat / pending [asm:614]
16 gone: archived [asm:615]
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
4 gone: movementtype "Transfer" [asm:3]
5 gone: movementtype "Reclaimed" [asm:4]
6 Back / Cat / available [asm:5]
7 Fostered / Cat / available [asm:6]
8 There / Cat / available [asm:7]
9 gone: deceaseddate "2026-01-03" [asm:8]
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
5 rejected: adoptionstatus: unknown status "In our words"
6 Kim / Dog / available [asm:5]
7 gone: deceaseddate "2026-01-01" [asm:6]
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
{"data":[{"type":"animals","id":"5","attributes":{"name":"Ember"},
"relationships":{"species":{"data":[{"id":"8"}]},"statuses":{"data":[{"id":"1"}]}}},
{"type":"animals","id":"6","attributes":{"name":"Ash"},
"relationships":{"species":{"data":[{"id":"8"}]},"statuses":{"data":[{"id":"77"}]}}}],
"included":[{"type":"statuses","id":"1","attributes":{"name":"Deceased"}},
{"type":"species","id":"8","attributes":{"singular":"Dog"}}]}
=> rescuegroups
1 gone: status "Deceased" [rescuegroups:5]
2 rejected: status: unknown status "77"
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
< {"category": "Dog", "defaultStatus": "available"}
{"Rex":{"breed":"Akita"},"Bo":{"breed":"Pug"}}
=> map name=name,externalId=id
1 Rex / Dog / available [Rex]
2 Bo / Dog / available [Bo]
# animals by their ids are a list, also with a date as a list of numbers
{"A1":{"nome":"Rex","especie":"Cachorro","data":[2026,5,6],"situacao":"Disponível"},"A2":{"nome":"Bo","especie":"Cachorro","data":[2026,5,6],"situacao":"Disponível"}}
=> map name=nome,categoryId=especie,status=situacao,externalId=id
1 Rex / Cachorro / available [A1]
2 Bo / Cachorro / available [A2]
# of two lists, the one under the name of animals is read
{"usuarios":[{"nome":"Ana","email":"ana@example.org"}],"animais":[{"nome":"Rex","especie":"Cachorro","situacao":"Disponível"}]}
=> map name=nome,categoryId=especie,status=situacao
1 Rex / Cachorro / available
# a status may be said of all
< {"defaultStatus": "pending"}
Tag,Pet,Kind
1,Rex,Dog
=> map name=Pet,categoryId=Kind,externalId=Tag
2 Rex / Dog / pending [1]
# a list may be in any of the languages, and among other columns
Ficha;Nombre del animal;Especie;Raza;Estado;Fecha alta
F-001;Luna;Perro;Mestizo;En adopción;03/02/2026
F-002;Milú;Gato;Siamés;Reservado;13/02/2026
=> map name=Nombre del animal,categoryId=Especie,status=Estado,externalId=Ficha,updatedAt=Fecha alta
2 Luna / Perro / available [F-001]
3 Milú / Gato / pending [F-002]
# headings may say nothing: the values tell
Nr,Ruf,Haltung,Geburtsdatum,Lage
24-01,Bello,Hund,01.02.2020,zu vermitteln
24-02,Mimi,Katze,03.02.2021,reserviert
=> map name=Ruf,categoryId=Haltung,status=Lage,externalId=Nr
2 Bello / Hund / available [24-01]
3 Mimi / Katze / pending [24-02]
# fields may stand within others
{"meta":{"total":1},"list":[
{"id":"a1","pet":{"name":"Rex"},"species":{"name":"Dog"},"status":"available"},
{"id":"a2","pet":{"name":"Rex"},"species":{"name":"Dog"},"status":"available"}]}
=> map name=pet.name,categoryId=species.name,status=status,externalId=id
1 Rex / Dog / available [a1]
2 Rex / Dog / available [a2]
# yes and no count within another object, too
[{"pk":"Rex","fields":{"nombre":"Rex","especie":"Perro","disponible":true}},
{"pk":"Bo","fields":{"nombre":"Bo","especie":"Perro","disponible":false}}]
=> map name=fields.nombre,categoryId=fields.especie,status=fields.disponible
1 Rex / Perro / available
2 gone: fields.disponible false
# of several columns of yes and no all count
Name,Species,Adopted,Reserved
Rex,Dog,no,yes
Bo,Dog,yes,no
Al,Dog,no,no
=> map name=Name,categoryId=Species,status=Adopted
2 Rex / Dog / pending
3 Bo / Dog / sold
4 Al / Dog / available
# a kind is asked for where no column has it
Name,Status
Mia,Available
Lu,Adopted
=> refused --category NAME if all animals are of one kind
# and of a known layout
< {"category":"Pup"}
Animal ID,Name,Type,Outcome Type,Kennel Number
A1,Rex,Dog,,K
=> sonoma
2 Rex / Pup / available [sonoma:A1]
# a first row of pictures and names is an animal
Carlos;terrier;img/1.jpg;1
Dax;mix;img/2.jpg;1
=> refused the first row is an animal
# and so does a column
< {"called":"dogs.csv"}
Name,Type,Status
Rex,Cat,Available
=> map name=Name,categoryId=Type,status=Status
2 Rex / Cat / available
# the list within a file tells the kind before the file does
< {"called":"cats.json"}
{"dogs":[{"petName":"Rex","status":"Available"}],"total":1}
=> map name=petName,status=status
1 Rex / dogs / available
# a report with several rows for an animal is refused
Animal Inventory,,,
Animal#,Name,Stage,Location
ARN,Species,DOB,Intake Date
A1,Hopper,Available,Lobby
,Rabbit,1/2/2025,3/4/2025
=> refused line 3: this is a second row of names: ask for a list with one row an animal
# Polish
Imię,Gatunek,Numer,Stan
Reks,pies,1/24,Do adopcji
Mruczek,kot,2/24,Adoptowany
=> map name=Imię,categoryId=Gatunek,status=Stan,externalId=Numer
2 Reks / pies / available [1/24]
3 Mruczek / kot / sold [2/24]
# Czech
Jméno,Druh,Číslo,Stav adopce
Rek,pes,1,dostupné
Míca,kočka,2,rezervováno
=> map name=Jméno,categoryId=Druh,status=Stav adopce,externalId=Číslo
2 Rek / pes / available [1]
3 Míca / kočka / pending [2]
# Russian, as in MalikaIssayeva/animal-center
id,name,type,status
1,Барон,Собака,available
2,Мурка,Кошка,adopted
=> map name=name,categoryId=type,status=status,externalId=id
2 Барон / Собака / available [1]
3 Мурка / Кошка / sold [2]
# a first row with a value of the row below it is an animal
< {"called":"cats.csv"}
Rufus|M|Tabby|quirky
Jimothy|M|Ragdoll|shy
Frisk|F|Calico|loving
=> refused the first row is an animal
# a kind or a status alone in a row is no animal, and a header again is left out
Name,Species,Status
Rex,Dog,Available
ADOPTED,,
Name,Species,Status
Max,Dog,Adopted
CATS,,
Tom,Cat,Available
=> map name=Name,categoryId=Species,status=Status
2 Rex / Dog / available
3 rejected: : a row with nothing but ADOPTED may tell of the rows below it: give each animal its own
5 Max / Dog / sold
6 rejected: : a row with nothing but CATS may tell of the rows below it: give each animal its own
7 Tom / Cat / available
# a bad row is told before it is asked whether the column is the right one
Name,Species,Status,Bio
Rex,Dog,Available,Loves walks, toys
Tom,Cat,Adopted,Shy
=> map name=Name,categoryId=Species,status=Status
2 rejected: : expected 4 fields as in the header, found 5 fields
3 Tom / Cat / sold
# what animals get on with is not their kind
< {"called":"chats_a_adopter.csv"}
Name,Age,Status,Good with
Tom,2,Available,Dogs
Kim,3,On hold,Cats
=> map name=Name,status=Status
2 Tom / chats / available
3 Kim / chats / pending
# an answer of Petfinder has attributes, and is no JSON:API
{"animals":[
{"id":1,"organization_id":"NJ333","type":"Dog","name":"Rex","attributes":{"spayed_neutered":true},"status":"adoptable"},
{"id":2,"organization_id":"NJ333","type":"Dog","name":"Bo","attributes":{"spayed_neutered":true},"status":"adopted"}]}
=> petfinder
1 Rex / Dog / available [petfinder:1]
2 Bo / Dog / sold [petfinder:2]
# errors of a spreadsheet are no names
Id,Name,Species,Status
A1,#REF!,Dog,Available
A2,Loading...,Dog,Available
A3,#¿NOMBRE?,Dog,Available
A4,Bo,Dog,Available
=> map name=Name,categoryId=Species,status=Status,externalId=Id
2 rejected: Name: expected a value, found "#REF!", the error of a spreadsheet
3 rejected: Name: expected a value, found "Loading...", the error of a spreadsheet
4 rejected: Name: expected a value, found "#¿NOMBRE?", the error of a spreadsheet
5 Bo / Dog / available [A4]
# entities of HTML are decoded once
Name,Species,Status
Salt &#038; Pepper,Dog,Available
Tom &amp;amp; Co,Cat,Adopted
=> map name=Name,categoryId=Species,status=Status
2 Salt & Pepper / Dog / available
3 Tom &amp; Co / Cat / sold
# titles of WordPress are names
[{"id":7,"title":{"rendered":"Salt &#038; Pepper"},"species":"Dog","status":"available"}]
=> map name=title,categoryId=species,status=status,externalId=id
1 Salt & Pepper / Dog / available [7]
# San Jose: a condition, a request, a wild animal and a day say that one without an outcome is not for adoption
AnimalID,AnimalName,AnimalType,IntakeDate,IntakeCondition,IntakeType,OutcomeDate,OutcomeType,IntakeReason,Crossing,LastUpdate
A1,Rex,DOG,2026-01-02,HEALTHY,STRAY,,,r,c,u
A2,Rex,DOG,2026-01-02,DEAD,STRAY,,,r,c,u
A3,Rex,DOG,2026-01-02,HEALTHY,DISPO REQ,,,r,c,u
A4,Rex,DOG,2026-01-02,HEALTHY,EUTH REQ,,,r,c,u
A5,,OTHER,2026-01-02,HEALTHY,WILDLIFE,,,r,c,u
A6,Rex,DOG,2026-01-02,HEALTHY,STRAY,2026-01-03,,r,c,u
=> san-jose
2 Rex / DOG / available [san-jose:A1]
3 gone: IntakeCondition "DEAD" [san-jose:A2]
4 gone: IntakeType "DISPO REQ" [san-jose:A3]
5 gone: IntakeType "EUTH REQ" [san-jose:A4]
6 gone: IntakeType "WILDLIFE" [san-jose:A5]
7 gone: OutcomeDate "2026-01-03" [san-jose:A6]
# a city that is not known is guessed, with the same care
AnimalID,AnimalName,AnimalType,IntakeDate,IntakeCondition,IntakeType,OutcomeDate,OutcomeType
A1,Rex,DOG,2026-01-02,HEALTHY,STRAY,,
A2,Bo,DOG,2026-01-02,DEAD,STRAY,,
A3,Lu,CAT,2026-01-02,HEALTHY,STRAY,2026-01-03,ADOPTION
A4,Mo,CAT,2026-01-02,HEALTHY,STRAY,2026-01-03,RTOS
=> map name=AnimalName,categoryId=AnimalType,status=OutcomeType,externalId=AnimalID,updatedAt=IntakeDate
2 Rex / DOG / available [A1]
3 gone: IntakeCondition "DEAD" [A2]
4 Lu / CAT / sold [A3]
5 gone: OutcomeType "RTOS" [A4]
# a column \`Animal\` is not PetPoint's \`Animal #\`
Animal,Animal Name,Species,Stage
1,Rex,Dog,Available
=> map name=Animal Name,categoryId=Species,status=Stage
2 Rex / Dog / available
# a name and a category are not our own export
id,name,category,status
7,Rex,Dog,pending
=> map name=name,categoryId=category,status=status,externalId=id
2 Rex / Dog / pending [7]
# the rest of a map is guessed
< {"columns":{"name":"Name"}}
Name,Art,Status
Bo,Dog,pending
=> map name=Name,categoryId=Art,status=Status
2 Bo / Dog / pending
# Sonoma: an animal that came again, staff names, kinds of euthanasia and transfer
@sonoma.csv
=> sonoma
2 HONEY / DOG / available [sonoma:A981001]
3 TOM, JR / CAT / sold [sonoma:A981002]
4 gone: Outcome Type "EUTHANIZE" [sonoma:A981003]
5 gone: Outcome Type "RETURN TO OWNER" [sonoma:A981001]
6 gone: Outcome Type "TRANSFER" [sonoma:A981004]
# Austin: BOM, CRLF, newline in quotes, staff names, blank names
@austin.csv
=> austin
2 Luna / Dog / sold [austin:A900001]
3 Luna / Dog / available [austin:A900001]
4  / Cat / available [austin:A900002]
7 gone: Outcome Type "Transfer" [austin:A900003]
8 Zoë / Bird / sold [austin:A900004]
9 rejected: Animal Type: expected a value, found nothing
10 rejected: Animal Type: expected a value, found nothing
# Shelterluv: statuses with where the animal is behind a dash, and its own words
@shelterluv.json
=> shelterluv
1 Biscuit / Dog / available [shelterluv:8001]
2 Olive / Cat / available [shelterluv:8002]
3 Moss / Rabbit, Domestic / sold [shelterluv:8003]
4 gone: Status "Deceased" [shelterluv:8004]
5 gone: Status "Awaiting Spay/Neuter - In Foster" [shelterluv:8005]
6 Nut / Dog / pending [shelterluv:8006]
# Korea's shelters: the kind stands before the breed, and each end has its own word
{"response":{"header":{"resultCode":"00"},"body":{"items":{"item":[
{"desertionNo":"40","kindCd":"[개] 믹스견","processState":"보호중","happenDt":"20260101"},
{"desertionNo":"41","kindCd":"[개] 믹스견","processState":"종료(입양)","happenDt":"20260101"},
{"desertionNo":"42","kindCd":"[개] 믹스견","processState":"종료(안락사)","happenDt":"20260101"},
{"desertionNo":"43","kindCd":"[개] 믹스견","processState":"공고중","happenDt":"20260101"}]},"totalCount":4}}}
=> korea
1  / 개 / available [korea:40]
2  / 개 / sold [korea:41]
3 gone: processState "종료(안락사)" [korea:42]
4 gone: processState "공고중" [korea:43]
# Taiwan's shelters: open is available, and an animal without a title has no name
[{"animal_id":1,"animal_subid":"s","animal_kind":"狗","animal_title":"","animal_status":"OPEN"},
{"animal_id":2,"animal_subid":"s","animal_kind":"狗","animal_title":"","animal_status":"ADOPTED"},
{"animal_id":3,"animal_subid":"s","animal_kind":"狗","animal_title":"","animal_status":"DEAD"},
{"animal_id":4,"animal_subid":"s","animal_kind":"狗","animal_title":"","animal_status":"NONE"},
{"animal_id":5,"animal_subid":"s","animal_kind":"狗","animal_title":"","animal_status":"OTHER"}]
=> taiwan
1  / 狗 / available [taiwan:1]
2  / 狗 / sold [taiwan:2]
3 gone: animal_status "DEAD" [taiwan:3]
4 gone: animal_status "NONE" [taiwan:4]
5 gone: animal_status "OTHER" [taiwan:5]
# a picture or an extra is no name
Species,Extra Info,Img
dog,,pom.png
cat,three legs,lab.jpg
=> refused --map name=COLUMN,
# who is adopted is told by a year and kinds by breeds, as in Aristvodolaz/sond_shnau
< {"category":"Dog"}
id,name,type,adoptionDate
1,Арчи,Ризеншнауцер,2023-05-12
2,Лола,Миттельшнауцер,2023-07-20
=> map name=name,externalId=id
2 Арчи / Dog / sold [1]
3 Лола / Dog / sold [2]
# RescueGroups: the species is named after the animals, pictures are not kept
@rescuegroups.json
=> rescuegroups
1 Biscuit / Dog / available [rescuegroups:7001]
2 Juniper / Cats / pending [rescuegroups:7002]
3 Otto / Dog / sold [rescuegroups:7003]
4 rejected: relationships.species: expected a value, found nothing
5 rejected: relationships.species: expected a value, found nothing
# a workbook with data descriptors, as programs write it that stream
@streamed.xlsx
=> petpoint
3 Biscuit / Dog / available [petpoint:A50000001]
4  / Cat / pending [petpoint:A50000002]
5 gone: Stage "Bite Quarantine" [petpoint:A50000003]
# an id is the same as a decimal or a formula
ID,Name,Species,Status
1001.0,Rex,Dog,Available
="1002",Rex,Dog,Available
=> map name=Name,categoryId=Species,status=Status,externalId=ID
2 Rex / Dog / available [1001]
3 Rex / Dog / available [1002]
# how animals left is asked for, and not taken for a list without a status, whatever it is called
Animal,Type,Name,Rescue ID,Species
Isa,Adoption,Isa,C1,Cat
Lo,Return to Owner,Lo,D2,Dog
Mo,Euthanasia,Mo,D3,Dog
=> map name=Name,categoryId=Species,status=Type,externalId=Rescue ID
2 rejected: Type: unknown status "Adoption"
3 gone: Type "Return to Owner" [D2]
4 gone: Type "Euthanasia" [D3]
# ASM: a death, a hold and an adoption that only later records have count
[{"ID":1,"ANIMALNAME":"Rex","SPECIESNAME":"Dog","ARCHIVED":0},
{"ID":2,"ANIMALNAME":"Rex","SPECIESNAME":"Dog","ARCHIVED":0,"DECEASEDDATE":"2026-01-01T00:00:00"},
{"ID":3,"ANIMALNAME":"Rex","SPECIESNAME":"Dog","ARCHIVED":0,"IsHold":1},
{"ID":4,"ANIMALNAME":"Rex","SPECIESNAME":"Dog","ARCHIVED":0,"activemovementtype":1}]
=> asm
1 Rex / Dog / available [asm:1]
2 gone: DECEASEDDATE "2026-01-01T00:00:00" [asm:2]
3 gone: IsHold 1 [asm:3]
4 Rex / Dog / sold [asm:4]
# MongoDB's Extended JSON: ids, dates and who adopted are read without their types
[{"_id":{"$oid":"6a1"},"name":"Rex","species":"dog","status":"Available","adoptedBy":{"$oid":"77"}},
{"_id":{"$oid":"6a2"},"name":"Tom","species":"cat","status":"Available","adoptedBy":{"$undefined":true},
"adoptedAt":{"$date":{"$numberLong":"-62135596800000"}}}]
=> map name=name,categoryId=species,status=status,externalId=_id
1 Rex / dog / sold [6a1]
2 Tom / cat / available [6a2]
# and as their path was told before
< {"columns":{"name":"name","categoryId":"species","externalId":"_id.$oid"},"defaultStatus":"available"}
[{"_id":{"$oid":"6a1"},"name":"Rex","species":"dog"}]
=> map told name=name,categoryId=species,externalId=_id.$oid
1 Rex / dog / available [6a1]
# who is lost is told by the type of an ad, and the time in milliseconds is an id
[{"id":1600000000001,"name":"Rex","species":"dog","type":"adopcion"},
{"id":1600000000002,"name":"Tom","species":"cat","type":"perdido"}]
=> map name=name,categoryId=species,status=type,externalId=id
1 rejected: type: unknown status "adopcion"
2 gone: type "perdido" [1600000000002]
# a text that most lack is no name
breed,kinds,disease,status
Jindo,[Dog] Jindo,,available
Mix,[Cat] Mix,FIV,adopted
Mix,[Dog] Mix,,available
=> map categoryId=kinds,status=status
2  / Dog / available
3  / Cat / sold
4  / Dog / available
# what tags say of a reservation is asked, and a status that says it itself is not
name,species,status,tags
Rex,dog,available,"gentle, reserved"
Tom,cat,reserved,reserved
Bo,cat,available,"lively, adopted"
Mo,cat,available,Rainbow Bridge
Jo,cat,available,died laughing
=> map name=name,categoryId=species,status=status
2 rejected: tags: unknown status "reserved"
3 Tom / cat / pending
4 Bo / cat / sold
5 gone: tags "Rainbow Bridge"
6 Jo / cat / available
# a tag may be an object
[{"name":"Rex","species":"dog","status":"available","tags":[{"name":"Shy"},{"slug":"adopted"}]},
{"name":"Tom","species":"cat","status":"available","tags":[{"name":"Shy"}]}]
=> map name=name,categoryId=species,status=status
1 Rex / dog / sold
2 Tom / cat / available
# a layout is told by a later record, too
{"id":1,"name":"Bo","type":"Dog","status":"adopted"}
{"id":2,"name":"Rex","type":"Dog","status":"adopted","organization_id":"MI1"}
=> petfinder
1 Bo / Dog / sold [petfinder:1]
2 Rex / Dog / sold [petfinder:2]
# a column that the first records chose is not replaced by another one
[{"Species":"Dog","Stage":"Available","ARN":"9","Animal #":"A1","Animal Name":"Bo"},
{"Species":"Dog","Stage":"Available","ARN":"9","Animal Name":"Rex"}]
=> petpoint
1 Bo / Dog / available [petpoint:A1]
2 Rex / Dog / available`;

const cases = lists.split(/^# /m).slice(1);

test.each(cases.map((each) => [each.split("\n", 1)[0] ?? "", each] as const))(
  "%s",
  async (title, each) => {
    const [before = "", after = ""] = each.slice(title.length + 1).split("\n=> ");
    const [, told = "{}", text = ""] = /^(?:< ([^\n]*)\n)?(.*)$/s.exec(before) ?? [];
    const [head = "", ...animals] = after.trimEnd().split("\n");
    const given = JSON.parse(told) as Given;
    const input = text.startsWith("@") ? await fixture(text.slice(1)) : `${text}\n`;
    if (head.startsWith("refused ")) {
      expect(await refusal(readWhole(input, given))).toContain(head.replace("refused ", ""));
      return;
    }
    const { outcomes, isGuessed, reading, ...read } = await readWhole(input, given);
    const columns = `${isGuessed ? "" : "told "}${fieldMapText(reading.columns ?? {})}`;
    const how = read.format === "map" ? `map ${columns}` : read.format;
    expect([how, ...outcomes.map(brief)]).toEqual([head, ...animals]);
  },
);
