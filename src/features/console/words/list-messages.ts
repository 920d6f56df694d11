/** What is wrong with a list, without the options of the command line. */
import { messageTexts } from "../../import/messages.ts";

export const englishMessages = {
  ...messageTexts,
  missing: () => "is missing",
  tooLong: (max: string, found: string) => `longer than ${max} characters: ${found}`,
  idUnknown: (id: string) => `${id} is not the id of this animal here`,
  statusUnknown: (found: string) => `what does ${found} mean?`,
  sheetsUnread: (names: string) =>
    `The workbook has other sheets, which are not read: ${names}. Save each as a file of its own`,
  idsMissing: () => "Some animals have no id of their own, so the next import would add them again",
  dayOrderOpen: () =>
    "Nothing tells whether the day or the month comes first; the month is taken to",
  columnTakes: (column: string, records: string, available: string) =>
    `The column ${column} says that ${records} of ${available} available animals are not`,
  encodingGuessed: (encoding: string) =>
    `Are the accents right below? The file is not UTF-8 and is read as ${encoding}`,
  noneGuessed: (_count: string, column: string) =>
    `By ${column}, no animal of this file is for adoption. Choose the columns yourself.`,
  listsMany: () => "The file has several lists. Save each as a file of its own.",
  sheetsMany: (names: string) =>
    `The workbook has several lists: ${names}. Save each as a file of its own.`,
  encodingUnknown: () => "The letters of this file cannot be read. Save it as UTF-8.",
  empty: () => "The file is empty.",
  noObjects: () => "The file has no list of animals.",
  noList: () => "The file has no list of animals.",
  columnsMissing: (_format: string, missing: string) => `These columns are missing: ${missing}.`,
  columnTwice: (pair: string, times: string) => `The file has a column ${times} times: ${pair}.`,
  columnUnknown: (pair: string) => `The file has no such column: ${pair}.`,
  notEncoded: () => "The letters of this file cannot be read. Save it as UTF-8.",
  notUtf8: () => "The letters of this file cannot be read. Save it as UTF-8.",
  compressed: () => "The file is compressed. Unpack it first.",
  sheetEmpty: () => "The first sheet is empty. Put the list on the first sheet.",
  addressSecret: () => "the address must not have a user name or a password in it",
};

export const spanishMessages: typeof englishMessages = {
  missing: () => "falta",
  tooLong: (max, found) => `más de ${max} caracteres: ${found}`,
  illFormed: () => "tiene caracteres que no se pueden guardar",
  notText: (found) => `tiene que ser texto, no ${found}`,
  notInt64: (found) => `tiene que ser un número entero, no ${found}`,
  notObject: (found) => `tiene que ser un objeto, no ${found}`,
  idUnknown: (id) => `${id} no es el número de este animal aquí`,
  animalTwice: () => "una fila anterior es del mismo animal",
  categoryUnknown: (name) => `no se conoce la categoría ${name}`,
  categoryPair: (id, name) => `${id} no es la categoría ${name} aquí`,
  statusUnknown: (found) => `¿qué significa ${found}?`,
  fieldCount: (expected, found) => `la fila tiene ${found} de ${expected} columnas`,
  errorCell: (found) => `la hoja de cálculo no pudo calcular esto: ${found}`,
  quoteOpen: () => "unas comillas no se cierran",
  notJson: (why) => `no es JSON correcto (en inglés: ${why})`,
  rowAlone: (cell) =>
    `la fila solo tiene ${cell}, que quizá se refiere a las siguientes: escríbelo en cada animal`,
  other: (text) => `(en inglés) ${text}`,
  idsDamaged: () =>
    "Una hoja de cálculo ha dañado algunos números; estos animales se importan sin número",
  sheetsUnread: (names) =>
    `El libro tiene otras hojas, que no se leen: ${names}. Guarda cada una como archivo propio`,
  datesUnreadable: (field) => `No se entienden las fechas de la columna ${field}`,
  idsMissing: () =>
    "Algunos animales no tienen número propio: la próxima importación los añadiría otra vez",
  namesDiffer: () => "Algunos números tienen filas con nombres distintos; vale la fila más nueva",
  categoryNumber: (found) => `${found} no es una categoría de aquí, ni un nombre para una nueva`,
  sameName: (name) => `más de un animal se llama ${name}, y nada dice cuál es este`,
  alikeThere: () =>
    "Algunos animales nuevos tienen el nombre y la categoría de uno que ya está aquí",
  namesMissing: () => "Algunos animales no tienen nombre",
  namesTell: () =>
    "Algunos nombres dicen que el animal está adoptado o reservado, y el estado dice disponible",
  statusesBlank: () => "Algunos animales no tienen estado, y se guardan sin él",
  recordsDisagree: () =>
    "Algunos animales tienen varias filas que no coinciden; vale la más prudente",
  rowsLeftOut: () => "Las filas con totales o notas no se leen",
  columnsDisagree: () =>
    "Otra columna dice que estos animales no están disponibles, y se toman así",
  dayOrderOpen: () => "Nada dice si va primero el día o el mes; se toma el mes",
  archived: (file) => `Es un archivo ZIP. Descomprímelo y elige ${file}.`,
  htmlTable: () => "Es una página web con una tabla. Guárdala en una hoja de cálculo como .xlsx.",
  columnTakes: (column, records, available) =>
    `La columna ${column} dice que ${records} de ${available} animales disponibles no lo están`,
  encodingGuessed: (encoding) =>
    `¿Están bien los acentos de abajo? El archivo no es UTF-8 y se lee como ${encoding}`,
  listPartial: () => "El archivo dice que es una página de una lista más larga",
  noneForAdoption: (_count, column) =>
    `Según ${column}, ningún animal de este archivo está en adopción`,
  noneGuessed: (_count, column) =>
    `Según ${column}, ningún animal de este archivo está en adopción. Elige tú las columnas.`,
  empty: () => "El archivo está vacío.",
  inputLarge: (max) => `El archivo tiene más de ${max} MiB, descomprimido. Divídelo.`,
  recordsMany: (max) => `El archivo tiene más de ${max} filas. Divídelo.`,
  columnsMany: (max) => `El archivo tiene más de ${max} columnas.`,
  listsMany: () => "El archivo tiene varias listas. Guarda cada una como archivo propio.",
  sheetsMany: (names) =>
    `El libro tiene varias listas: ${names}. Guarda cada una como archivo propio.`,
  headerless: () =>
    "La primera fila es un animal. Añade encima una fila con los nombres de las columnas.",
  headerSecond: () => "Hay dos filas con nombres de columnas. Deja una sola fila por animal.",
  encodingUnknown: () => "No se entienden las letras de este archivo. Guárdalo como UTF-8.",
  noObjects: () => "El archivo no tiene ninguna lista de animales.",
  serviceError: (said) => `El archivo es el mensaje de error de un servicio, no una lista: ${said}`,
  noList: () => "El archivo no tiene ninguna lista de animales.",
  statusMissing: () => "Ninguna columna dice si un animal está en adopción.",
  columnsMissing: (_format, missing) => `Faltan estas columnas: ${missing}.`,
  columnTwice: (pair, times) => `El archivo tiene una columna ${times} veces: ${pair}.`,
  columnUnknown: (pair) => `El archivo no tiene esta columna: ${pair}.`,
  headerMissing: () => "El archivo no tiene una línea con los nombres de las columnas.",
  cutOff: () => "El archivo se corta aquí. Descárgalo o guárdalo otra vez.",
  recordUnended: () => "Una fila es demasiado larga. ¿Falta cerrar unas comillas aquí?",
  notUtf8: () => "No se entienden las letras de este archivo. Guárdalo como UTF-8.",
  notEncoded: () => "No se entienden las letras de este archivo. Guárdalo como UTF-8.",
  compressed: () => "El archivo está comprimido. Descomprímelo antes.",
  compressedDamaged: () => "El archivo comprimido está dañado. Descárgalo otra vez.",
  otherKind: (kind) => `Este archivo es del tipo ${kind}. Pide la lista como CSV o Excel (.xlsx).`,
  webPage: (title) =>
    `Es una página web${title === "" ? "" : ` («${title}»)`}, no una lista. Descarga la lista, o publica la hoja de Google como CSV.`,
  workbookUnreadable: () =>
    "No se puede leer este archivo de Excel. Guárdalo otra vez, o como CSV.",
  formulaValueless: (cell) =>
    `La fórmula en ${cell} no tiene valor. Abre el archivo en una hoja de cálculo y guárdalo.`,
  sheetEmpty: () => "La primera hoja está vacía. Pon la lista en la primera hoja.",
  sheetUnknown: (sheet) => `No hay ninguna hoja ${sheet}.`,
  formatUnknown: () => "No se conoce este tipo de archivo.",
  addressSecret: () => "la dirección no puede llevar un nombre de usuario ni una contraseña",
  addressScheme: (scheme) => `la dirección tiene que empezar por https://, no por ${scheme}`,
  hostUnknown: (host) => `no se encuentra ${host}`,
  hostForbidden: (host) => `${host} está en una dirección que no tiene listas`,
  hostPrivate: (host) => `${host} está en una red privada; REHOME_PULL_PRIVATE=on lo permite`,
  hostPublic: (host) => `${host} está en internet: usa https://`,
  redirectsMany: (max) => `la dirección redirige más de ${max} veces`,
  credentialRefused: (status) => `el servicio no acepta la credencial (estado ${status})`,
  waitAsked: (status) => `el servicio pide que esperemos (estado ${status})`,
  sourceFailed: (status) => `el servicio ha fallado (estado ${status})`,
  statusOther: (status) => `el servicio devuelve el estado ${status} en lugar de una lista`,
  returnedNothing: () => "el servicio no devuelve nada: quizá no acepta la credencial",
  sourceRefused: (said) => `el servicio se niega: ${said}`,
  sourceSlow: () => "el servicio no ha respondido a tiempo",
  unreachable: (why) => `no se puede llegar al servicio (${why})`,
  returnedNoJson: () => "el servicio no devuelve JSON",
  returnedNoList: (key) => `la respuesta del servicio no tiene ninguna lista «${key}»`,
  pagesMany: (max) => `la lista tiene más de ${max} páginas`,
  countWrong: (total, found) => `el servicio tiene ${total} animales y devuelve ${found}`,
  returnedNone: () => "el servicio no devuelve ningún animal",
  credentialMissing: () => "la copia de seguridad que se restauró no tiene la credencial",
  pullOvertaken: () =>
    "mientras tanto, la lista se pausó o se leyó en otro sitio; no ha cambiado nada",
  noneTaken: (read, why) => `no se puede leer ninguno de los ${read} registros (en inglés: ${why})`,
  withdrawalsWait: (held) =>
    held === "1" ? "1 retirada por confirmar" : `${held} retiradas por confirmar`,
  withdrawalsUnsure: (missing, why) =>
    `no se retira ningún animal, porque la lista podría no estar completa (en inglés: ${why}); animales que le faltan: ${missing}`,
  wordsWait: (animals, words) =>
    animals === "1"
      ? `1 animal espera a que se explique ${words}`
      : `${animals} animales esperan a que se explique ${words}`,
  rowsWrong: (rejected, read, line, field, id) =>
    `${rejected} de ${read} registros ${rejected === "1" ? "tiene" : "tienen"} errores, el primero en la línea ${line}: ${field}${id && ` de ${id}`}`,
};
