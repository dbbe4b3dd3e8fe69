import type { Language } from './language.ts';

const status = 'Zustand, Stand';
const raised = 'gemeldet am, erfasst am, erstellt, erstellt am, Datum';
const due = 'fällig, fällig am, Termin, Frist, Fälligkeit, Fälligkeitsdatum';
const number = 'Nr, lfd Nr, Nummer';

export const german: Language = {
  nobody:
    'niemand, keiner, keine, nicht zugewiesen, nicht zugeordnet, offen, k.A., k. A., kein, ohne, entfällt, vakant',
  statusWords: 'Zustand, aktiv, inaktiv, gesperrt, ausgeschieden, archiviert',
  projectColumns: 'Projekt, Projektname',
  firstName: 'Vorname',
  lastName: 'Nachname, Familienname, Zuname',
  inactive: {
    columns: 'inaktiv, gesperrt, ausgeschieden, ausgetreten',
    yes: 'ja, wahr',
    no: 'nein, falsch',
  },
  rejected: 'abgelehnt, abgewiesen',
  probability: {
    1: 'sehr niedrig, sehr gering, sehr unwahrscheinlich, selten',
    2: 'unwahrscheinlich, niedrig, gering',
    3: 'möglich, gelegentlich, mittel, mittelhoch',
    4: 'wahrscheinlich, häufig, hoch',
    5: 'sehr hoch, sehr wahrscheinlich, fast sicher, nahezu sicher',
  },
  impact: {
    1: 'vernachlässigbar, unbedeutend, sehr niedrig, sehr gering',
    2: 'geringfügig, niedrig, gering',
    3: 'mittel, mittelhoch, spürbar',
    4: 'groß, kritisch, erheblich, schwerwiegend, hoch',
    5: 'katastrophal, sehr hoch, existenzbedrohend',
  },
  levels: {
    low: 'niedrig, gering, grün',
    medium: 'mittel, mittelhoch, gelb',
    high: 'hoch, rot',
    critical: 'kritisch, sehr hoch',
  },
  person: {
    sheets: 'Mitarbeiter, Personal, Personen',
    columns: {
      name: 'Mitarbeiter, Mitarbeitername, vollständiger Name, Anzeigename, Nachname Vorname',
      email: 'E-Mail-Adresse, Mailadresse, dienstliche E-Mail, geschäftliche E-Mail',
      title: 'Stelle, Funktion, Stellenbezeichnung, Berufsbezeichnung, Planstelle',
      department: 'Organisation, Abteilung, Bereich, Organisationseinheit, Orgeinheit, Kostenstelle',
      location: 'Standort, Ort, Dienstort, Arbeitsort, Büro',
      phone: 'Tel, Telefon, Telefonnummer, Rufnummer, mobil, Handy, Mobilnummer',
      kind: 'Beschäftigungsart, Mitarbeiterkreis, Vertragsart, Art',
      manager_user_id:
        'Vorgesetzter, Vorgesetzte, Führungskraft, Teamleiter, berichtet an, disziplinarischer Vorgesetzter',
      skills: 'Kenntnisse, Qualifikationen, Fähigkeiten',
      start_on: 'Eintritt, Eintrittsdatum, Beginn, Eintritt am, Startdatum, Einstellungsdatum',
      end_on: 'Austritt, Austrittsdatum, Ende, Austritt am, Vertragsende',
      status: 'Zustand, Beschäftigungsstatus, aktiv',
      external_id: 'Personalnummer, Personal Nr, Pernr, Mitarbeiternummer, Mitarbeiter ID',
    },
    values: {
      status: {
        active: 'aktiv, beschäftigt, Elternzeit, ja',
        inactive: 'inaktiv, ausgeschieden, ausgetreten, gesperrt, nein',
      },
      kind: {
        human:
          'Angestellter, Angestellte, angestellt, Arbeiter, Auszubildender, Werkstudent, Vollzeit, Teilzeit, unbefristet, befristet, interner Mitarbeiter, interne Mitarbeiterin',
        external:
          'extern, Externer, Externe, externer Mitarbeiter, externe Mitarbeiterin, freier Mitarbeiter, Dienstleister',
      },
    },
  },
  group: {
    sheets: 'Gruppe, Gruppen, Abteilung',
    columns: {
      name: 'Gruppe, Gruppenname, Abteilung, Teamname',
      description: 'Beschreibung',
      parent_id: 'übergeordnete Gruppe',
      lead_user_id: 'Leiter, Leitung, Teamleiter',
      member_user_ids: 'Mitglieder, Mitglied',
    },
  },
  project: {
    sheets: 'Projekt, Projekte',
    columns: {
      key: 'Kürzel, Projektkürzel',
      name: 'Projekt, Projektname, Titel',
      description: 'Beschreibung, Ziel',
      status,
      lead_user_id: 'Projektleiter, Projektleitung, verantwortlich',
      start_on: 'Beginn, Anfang, Startdatum',
      due_on: 'Ende, Termin, Enddatum',
      external_id: 'Projektnummer, Projekt Nr, Nr',
    },
  },
  risk: {
    sheets: 'Risiko, Risiken, Chancen',
    columns: {
      title: 'Risiko, Titel, Bezeichnung, Risikobezeichnung, Risikotitel, Kurzbeschreibung',
      description: 'Beschreibung, Risikobeschreibung, Bemerkung, Bemerkungen, Kommentar, Ursache',
      kind: 'Art, Typ, Chance Risiko, Risiko Chance',
      category: 'Kategorie, Risikokategorie, Bereich',
      probability: 'Eintrittswahrscheinlichkeit, Wahrscheinlichkeit, EW',
      impact: 'Auswirkung, Auswirkungen, Schadensausmaß, Schadenshöhe, Ausmaß, Tragweite',
      score: 'Risikowert, Risikozahl, Risikoklasse, RPZ, Risikoprioritätszahl',
      level: 'Ampel, Risikostufe, Stufe',
      status,
      strategy: 'Strategie, Risikostrategie, Behandlung',
      response_plan: 'Maßnahme, Maßnahmen, Gegenmaßnahme, Gegenmaßnahmen, Maßnahmenplan',
      contingency_plan: 'Notfallplan, Notfallmaßnahme',
      trigger: 'Auslöser, Indikator, Frühwarnindikator',
      owner_name:
        'verantwortlich, Verantwortlicher, Verantwortliche, zuständig, Risikoeigner, Risikoverantwortlicher, Eigner, Eigentümer, Bearbeiter',
      raised_by_user_id: 'gemeldet von, erfasst von, erkannt von, Melder, Ersteller',
      raised_on: `${raised}, erkannt am, identifiziert am, Erfassungsdatum`,
      due_on: `${due}, Zieltermin, Faelligkeitsdatum`,
      review_on: 'Überprüfung, nächste Überprüfung, Wiedervorlage, nächste Prüfung',
      closure_reason: 'Abschlussgrund',
      lessons: 'Erkenntnisse',
      external_id: `Risiko ID, Risiko Nr, ${number}, laufende Nummer, Kennung`,
    },
    values: {
      status: {
        open: 'offen, neu, aktiv, identifiziert, erfasst',
        mitigating: 'in Bearbeitung, in Arbeit, Maßnahme läuft, in Umsetzung',
        monitoring: 'beobachten, in Beobachtung, beobachtet, unter Beobachtung, Überwachung',
        accepted: 'akzeptiert, getragen',
        materialized: 'eingetreten',
        closed: 'geschlossen, erledigt, abgeschlossen, beendet, entfallen',
      },
      strategy: {
        avoid: 'vermeiden, Vermeidung',
        mitigate: 'mindern, reduzieren, vermindern, Verminderung, Minderung, verringern',
        transfer: 'übertragen, verlagern, überwälzen, versichern',
        accept: 'akzeptieren, tragen, Akzeptanz',
        escalate: 'eskalieren, Eskalation',
        exploit: 'ausnutzen, nutzen, ergreifen',
        enhance: 'verstärken, verbessern, erhöhen, fördern',
        share: 'teilen',
      },
      kind: { threat: 'Risiko, Bedrohung', opportunity: 'Chance' },
    },
  },
  issue: {
    sheets: 'Probleme, Störung, offene Punkte, LOP',
    columns: {
      title: 'Titel, Thema, Problem, Betreff, offener Punkt, Bezeichnung, Zusammenfassung, Kurzbeschreibung',
      description: 'Beschreibung, Bemerkung, Bemerkungen, Kommentar, Erläuterung',
      severity: 'Schweregrad, Schwere, Auswirkung',
      priority: 'Priorität, Prio, Dringlichkeit',
      status,
      resolution: 'Lösung, Ergebnis',
      resolution_note: 'Lösungshinweise, Lösungsbeschreibung, Abschlussnotizen',
      owner_name: 'verantwortlich, Verantwortlicher, Verantwortliche, Eigner',
      assignee_name: 'Bearbeiter, zugewiesen an, zugewiesen, zuständig',
      raised_by_user_id: 'gemeldet von, erfasst von, Ersteller, Melder, Autor, Anrufer',
      raised_on: `${raised}, Eingang, angelegt, angelegt am, geöffnet, geöffnet am, eröffnet, eröffnet am`,
      due_on: `${due}, Zieltermin, Abgabedatum, zu erledigen bis`,
      external_id: `${number}, laufende Nummer, Kennung, Vorgang`,
      source_url: 'Verweis',
    },
    values: {
      status: {
        open: 'offen, neu',
        in_progress: 'in Bearbeitung, in Arbeit, begonnen, zugewiesen',
        blocked: 'blockiert, wartet, zurückgestellt, wartend',
        resolved: 'gelöst, erledigt, behoben',
        closed: 'geschlossen, abgeschlossen',
      },
      severity: {
        critical: 'kritisch, sehr hoch, blockierend',
        high: 'hoch, schwer',
        medium: 'mittel',
        low: 'niedrig, gering, leicht',
      },
      priority: {
        urgent: 'dringend, sehr hoch, sofort, kritisch',
        high: 'hoch',
        normal: 'mittel, Planung',
        low: 'niedrig, gering',
      },
    },
  },
  task: {
    sheets: 'Aufgabe, Aufgaben, Maßnahmen',
    columns: {
      title: 'Aufgabe, Titel, Maßnahme, Vorgangsname, Betreff, Bezeichnung, Tätigkeit, Kurzbeschreibung',
      description: 'Beschreibung, Notizen, Bemerkung, Bemerkungen, Kommentar',
      status: `${status}, Fortschritt, abgeschlossen, Prozent abgeschlossen`,
      assignee_name: 'verantwortlich, Bearbeiter, zugewiesen an, zuständig, Ressourcennamen, wer',
      start_on: 'Anfang, Beginn, Startdatum, startet am',
      due_on: `Ende, ${due}, Abgabedatum, bis wann, Enddatum`,
      external_id: `${number}, PSP Code`,
    },
    values: {
      status: {
        todo: 'offen, neu, nicht begonnen, geplant, nein',
        in_progress: 'in Bearbeitung, in Arbeit, begonnen',
        blocked: 'blockiert, wartet, zurückgestellt',
        done: 'erledigt, abgeschlossen, fertig, ja',
        cancelled: 'abgebrochen, entfallen, abgelehnt, abgewiesen',
      },
    },
  },
};
