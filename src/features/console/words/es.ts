import type { Sentences } from "./en.ts";
import { spanishMessages } from "./list-messages.ts";

export const es: Sentences = {
  fields: {
    readOnly: "Solo lectura: puede ver animales, pero no añadirlos",
    grace: "Crear un secreto nuevo. El anterior seguirá siendo válido durante",
    sure: "Revocar para siempre: no se puede deshacer",
    complete: "Este archivo es la lista completa: retirar los animales que no aparecen en él",
    skipBad: "Importar las filas correctas y omitir las que tienen errores",
    listWins: "Aplicar también a estos lo que dice la lista",
  },
  status: { available: "disponible", pending: "reservado", sold: "adoptado", none: "sin estado" },
  roles: { staff: "Personal", operator: "Operador" },
  layout: {
    signOutSure: "Para volver necesitas un enlace: créalo ahora o pídeselo luego a un operador.",
    late: "El servicio todavía no ha respondido. Lo que has escrito sigue en esta página. Espera, o comprueba en otra pestaña si se ha guardado y, si no, pulsa otra vez.",
  },
  join: {
    staff: "Te han invitado a mantener al día la lista de animales de este refugio.",
    operator: "Te han invitado a gestionar este catálogo: sus animales, claves y personas.",
    once: "Este enlace solo se puede usar una vez. En este dispositivo, la sesión dura 30 días desde la última visita.",
    wrong:
      "Este enlace no sirve: ya se ha usado, tiene más de 7 días o está incompleto. Pide uno nuevo.",
  },
  signedOut: {
    what: "Abre tu enlace de invitación. Si ya se ha usado, pide uno nuevo.",
    waits: "Lo que has escrito no se ha perdido: lo verás cuando vuelvas a entrar.",
    waited:
      "Escribiste esto cuando tu sesión ya se había cerrado. Aún no se ha guardado: envíalo otra vez.",
  },
  animals: {
    listSays: (status) => `La lista dice: ${status}`,
    existing: (name, category) => `Ya hay un animal llamado ${name} (${category}).`,
    none: "Todavía no hay animales. Añade el primero o importa una lista.",
    countOf: (found, total) => `${found} de ${total} ${total === "1" ? "animal" : "animales"}`,
    chooseFirst: "Primero marca algún animal: la casilla está delante de su nombre.",
    stale: (actor, value) =>
      `Mientras tanto, ${actor} ha cambiado esto a «${value}». Repítelo si aún quieres hacerlo.`,
    mergeFirst: "Primero marca las dos fichas del mismo animal.",
    mergeHint: "La que conserves toma lo que le falte. La otra desaparece. Puedes deshacerlo.",
    photos:
      "Aquí no hay fotos: rehome solo guarda nombres y estados. Muéstralas en tu página web, con el número del animal.",
  },
  legend: {
    undo: "Puedes deshacer cada cambio durante 90 días: pulsa Deshacer justo después o, más tarde, en Últimos cambios.",
    seen: "Todo el mundo ve los animales disponibles y los reservados en la página pública.",
  },
  changes: {
    kept: (animals) => `Se han cambiado después y se quedan como están: ${animals}.`,
    over: (actor) => `Esto sustituye lo que había hecho ${actor}:`,
    several: (names, more) => `${names} y ${more} más`,
    sure: (animals) =>
      `Todo volverá a estar como antes (${animals}), salvo lo que haya cambiado después. Esto no se puede deshacer.`,
  },
  history: {
    did: {
      withdrawn: "retirado por la lista",
      removed: "quitado de la lista",
      restored: "recuperado",
    },
  },
  categories: {
    none: "Todavía no hay categorías. Escribe un nombre al añadir un animal, o aquí.",
    animals: (shown, count) => `${shown} ${count === 1 ? "animal" : "animales"}`,
    mergeHint: "Todos sus animales pasan a la otra categoría, y esta desaparece.",
    mergeSure: (from, into, animals) =>
      `${from} pasará a formar parte de ${into}: allí irán sus animales (${animals}), y ${from} desaparecerá. Puedes deshacerlo.`,
    merged: (from, into, animals) => `${from} forma parte ahora de ${into} (${animals})`,
  },
  import: {
    keptTitle: (count) => `Sin tocar, porque se han cambiado aquí: ${count}`,
    keptAs: (own, listed) => `${own}; la lista dice ${listed}`,
    notDone:
      "No se ha importado nada: los animales han cambiado mientras tanto. Elige el archivo otra vez",
    mostMissing: (count, list) =>
      `Falta más de la mitad: ${count} animales de ${list} no aparecen en este archivo`,
    otherList:
      "Estos números ya son de otros animales, así que parece otra lista. Ponle abajo otro nombre.",
    dayLabel: "Nada en el archivo indica qué va primero en las fechas",
    columnTitle: (column) => `¿Qué significa la columna ${column}?`,
    columnTakes: (records, available, meaning) =>
      `Para ${records} de ${available} animales disponibles dice: ${meaning}`,
    remembered: "Se lee como la última lista con estas columnas",
    statuslessHint: "Ninguna columna lo indica. Elige un estado para todos.",
    statusWords: (column) => `¿Qué significan estas palabras de ${column}?`,
    sourceHint: "Por ejemplo, el de tu refugio. Usa el mismo cada semana.",
    what: "Elige un archivo del programa de tu refugio o de una hoja de cálculo: CSV, Excel o JSON. Verás qué cambiaría antes de que cambie nada.",
    busy: "Tu último archivo todavía se está leyendo. Espera a que termine.",
    leftOut: (reasons) => `Quedan fuera, porque no están en adopción: ${reasons}.`,
    bad: (shown, count) => `${shown} ${count === 1 ? "fila" : "filas"}`,
    lines: (lines, count) => `${count === 1 ? "línea" : "líneas"} ${lines}`,
    note: (text, count, line, example) =>
      `${text} (${count}${line === 0 ? "" : `, la primera en la línea ${line}${example && `: ${example}`}`}).`,
    badStop:
      "El archivo tiene filas con errores. Marca la casilla para importar las demás, o corrige el archivo.",
    nothing: "Nada de este archivo cambiaría el catálogo.",
    kindHint: "Si todos los animales de la lista son de un mismo tipo, como Gato.",
    kindMissing: "Elige la columna de la categoría, o escribe la categoría de todos.",
    sameHint:
      "Tienen el nombre y la categoría de un animal que ya está aquí. Marcado: es el mismo, y se modifica. Sin marcar: se añade otro.",
    partHint: "El archivo tiene varias listas. Impórtalas una a una.",
    mapHint: "Indica qué hay en cada columna. Las primeras filas muestran su contenido.",
    lookFirst: "Esto cambiaría con tus últimas respuestas. Aún no se ha importado nada.",
    completeBad:
      "Una lista completa no puede tener filas con errores ni números dañados, ni ser una página de varias: sus animales se retirarían. Corrige el archivo o quita la marca de abajo.",
  },
  sources: {
    hint: "El servicio lee estas listas automáticamente e importa lo que ha cambiado.",
    explain: "¿Qué significan estas palabras? Sus animales no se muestran hasta que lo digas.",
    heldText: (animals, names) =>
      `Faltan en la lista ${animals}, más de la mitad en un día: ${names}. Siguen aquí hasta que lo confirmes.`,
    heldOther:
      "Mientras tanto, la lista se ha vuelto a leer, así que no se ha retirado a nadie. Revísala otra vez.",
    stale: (names) =>
      `Sin leer desde hace mucho: ${names}. Lo que ves de estas listas puede no estar al día.`,
  },
  messages: spanishMessages,
  keys: {
    secretInName: "El nombre no puede contener un secreto: lo muestran todas las listas.",
    more: "Su uso, su historial y sus bloqueos, en la línea de comandos:",
    planLine: (plan, minute, day) => `${plan}: ${minute}/min, ${day}/día`,
    once: "El secreto solo se muestra ahora. Cópialo.",
    tell: "Dáselo a su dueño de forma segura: quien lo tenga podrá usar la clave.",
    states: { active: "activa", banned: "bloqueada", expired: "caducada", revoked: "revocada" },
    accesses: { "read-write": "puede ver y añadir animales", "read-only": "solo lectura" },
  },
  health: {
    hint: (version) =>
      `Lo que requiere atención en rehome ${version}. El comando rehome doctor dice cómo arreglarlo.`,
    states: { ok: "bien", warn: "requiere atención", fail: "urgente" },
    checks: {
      "data folder": ["Carpeta de datos", "La carpeta falta, está vacía o es otra."],
      moved: ["Datos", "Los datos se han movido a otro sitio. Usa ese."],
      start: ["Arranque", "Con estos archivos, el servicio no podría volver a arrancar."],
      catalogue: ["Animales", "El archivo está dañado, bloqueado o es de otra versión."],
      limits: ["Límites", "El archivo está dañado, bloqueado o es de otra versión."],
      database: ["Base de datos", "La base de datos no se puede usar tal como está."],
      permissions: ["Permisos", "Otras cuentas de este equipo pueden leer los datos."],
      disk: ["Disco", "Queda poco espacio. Cuando se llene, no se guardará nada."],
      clock: ["Reloj", "El reloj de este equipo va mal o no está sincronizado."],
      backup: ["Copias de seguridad", "Falta una copia reciente. Sin ella se pueden perder datos."],
      sources: ["Listas automáticas", "Una lista no está al día. Quizá sus animales ya no estén."],
      certificate: ["Certificado", "El certificado ha caducado, caduca pronto o no se puede leer."],
      secret: ["Secretos", "Otras cuentas de este equipo pueden leer un secreto."],
      server: ["Servicio", "El servicio no responde donde dice su configuración."],
    },
  },
  people: {
    roleHint: "El personal ve animales, importación y categorías. Los operadores lo ven todo.",
    taken: "Ya hay una persona con este nombre. Dale un enlace nuevo o elige otro nombre.",
    removed: "Ya no tiene acceso en ningún dispositivo.",
    removeSure:
      "Se cerrará su sesión en todas partes y sus enlaces dejarán de funcionar. Lo que ha hecho se conserva. Para que vuelva, tendrás que enviar otra invitación.",
    linkHint:
      "Envíalo o muestra el código para que lo escaneen. Sirve una sola vez, en los próximos 7 días, y solo se muestra ahora.",
    onlyHere:
      "Este enlace solo se abre en este equipo. Sirve una sola vez, en los próximos 7 días, y solo se muestra ahora.",
  },
  errors: {
    name: "Este nombre tiene caracteres que no se pueden guardar.",
    categoryAlike: (name) => `Ya existe la categoría ${name}. Si quieres otra, guarda otra vez.`,
    nameLong: (max) => `Un nombre tiene como mucho ${max.toLocaleString("es")} caracteres.`,
    limit: "Escribe un número entero de 1 a 1.000.000.000.",
    expires: "Escribe un número y d, h, m o s, por ejemplo 90d o 24h, hasta 36500d.",
  },
  failures: {
    title: "No se ha podido hacer",
    start: "Ir a los animales",
    notFound: "Aquí no hay nada, o ya no está.",
    someGone:
      "Mientras tanto, alguien ha quitado uno de estos animales, así que no se ha cambiado nada. Vuelve a elegir.",
    bothListed: "Los dos vienen de una lista, que volvería a traer el otro.",
    forbidden: "Solo los operadores pueden ver esto. Pide ayuda a uno.",
    removed: "Te han quitado el acceso: ya no puedes cambiar nada.",
    failed: "Se ha producido un error. Está en el registro del servicio.",
    later: "Inténtalo de nuevo en un momento.",
    tooMany: "Demasiados intentos desde esta dirección. Espera un minuto.",
    origin: "Esto no viene de una página de esta consola, así que no se ha hecho nada.",
    host: "La consola no responde con este nombre.",
    insecure: "Esta consola no acepta conexiones sin cifrar desde internet.",
    noUpload: "El formulario no tiene ningún archivo.",
    tooLarge: "El archivo supera los 16 MiB. Pide a tu operador que lo importe.",
    crowded: "Se están enviando demasiados formularios y archivos.",
    interrupted: "El envío se ha interrumpido. Inténtalo de nuevo.",
    uploadsFull: "Otras personas están importando listas. Cuando terminen, habrá sitio.",
    importTooLong: "La lectura del archivo ha tardado más de un minuto y se ha detenido.",
    importTooLarge: "La lectura del archivo ha necesitado demasiada memoria y se ha detenido.",
    importGone: "Tu archivo ya no está aquí, así que no se ha importado nada. Elígelo de nuevo.",
    importEnded: "La lectura del archivo se ha detenido. Elígelo de nuevo.",
    uploading: "Todavía estás enviando otro archivo.",
    formTooLarge: "El formulario es demasiado grande.",
    othersChange: "Este cambio es de otra persona. Pídele a ella o a un operador que lo deshaga.",
    other: (message) => `No es posible (en inglés: ${message})`,
  },
};
