// Texte der Schlüsselergebnisse und Check-ins.

export const progress = {
  progress: "Fortschritt", confidence: "Zuversicht", note: "Notiz", checkIn: "Check-in", checkIns: "Check-ins",
  last: "Letzter Check-in:", none: "Keine Check-ins", overTime: "Fortschritt im Zeitraum", quiet: "Seit 14 Tagen keiner",
  yes: "Ja", no: "Nein", unchanged: "Unverändert", unstated: "Keine Angabe", percentHint: "0 bis 100",
  way: (/** @type {string} */ start, /** @type {string} */ current, /** @type {string} */ target) =>
    `${current} (von ${start} bis ${target})`,
  moved: (/** @type {string} */ title, /** @type {string} */ from, /** @type {string} */ to) =>
    `${title}: ${from} → ${to}`,
  done: (/** @type {string} */ title) => `Check-in gespeichert: ${title}`,
};
