import type { Language } from './language.ts';

const status = 'stato, stato attuale, situazione';
const raised =
  'data di creazione, creato il, data, data di apertura, aperto il, data di identificazione, segnalato il';
const due = 'scadenza, data di scadenza, termine, data obiettivo, entro il';
const number = 'numero, n., n°, riferimento, rif., codice, identificativo';
const description = 'descrizione, dettagli, dettaglio, commento, commenti, note, osservazioni';
const responsible = 'responsabile, proprietario, titolare';
const assignee = 'assegnato a, assegnata a, assegnato, assegnatario, incaricato';

export const italian: Language = {
  nobody: 'nessuno, nessuna, non assegnato, da definire, da assegnare, vacante',
  statusWords: 'stato, attivo, inattivo, cessato, bloccato, disattivato, archiviato',
  projectColumns: 'progetto, nome del progetto, nome progetto',
  firstName: 'nome di battesimo',
  lastName: 'cognome',
  inactive: { columns: 'inattivo, bloccato, disattivato, cessato', yes: 'sì, vero', no: 'falso' },
  rejected: 'rifiutato, respinto',
  probability: {
    1: 'molto basso, molto bassa, molto improbabile, raro, rara, remoto, remota',
    2: 'basso, bassa, improbabile, poco probabile',
    3: 'medio, media, moderato, moderata, possibile',
    4: 'alto, alta, elevato, elevata, probabile',
    5: 'molto alto, molto alta, molto elevato, molto elevata, molto probabile, quasi certo, quasi certa',
  },
  impact: {
    1: 'molto basso, molto bassa, trascurabile, insignificante',
    2: 'basso, bassa, minore',
    3: 'medio, media, moderato, moderata',
    4: 'alto, alta, elevato, elevata, maggiore',
    5: 'molto alto, molto alta, molto elevato, molto elevata, critico, critica, catastrofico, estremo',
  },
  levels: {
    low: 'basso, bassa, molto basso, verde',
    medium: 'medio, media, moderato, giallo',
    high: 'alto, alta, elevato, rosso',
    critical: 'critico, molto alto, estremo',
  },
  person: {
    sheets: 'persone, dipendenti, personale',
    columns: {
      name: 'nome, nome completo, nome e cognome, cognome e nome, dipendente, nominativo',
      email: 'posta elettronica, indirizzo e-mail, e-mail aziendale, mail aziendale',
      title: 'ruolo, mansione, qualifica, posizione',
      department: 'reparto, dipartimento, area, unità, ufficio',
      location: 'sede, luogo di lavoro, città, sede di lavoro',
      phone: 'telefono, numero di telefono, cellulare, tel.',
      time_zone: 'fuso orario',
      kind: 'tipo di contratto, tipo contratto, contratto, tipo',
      manager_user_id: 'responsabile, capo, superiore, riporta a, responsabile diretto',
      skills: 'competenze',
      start_on: 'data di assunzione, data assunzione, data inizio, data di inizio, inizio, assunto il',
      end_on: 'data di cessazione, data cessazione, data fine, data di fine, fine, fine contratto',
      status: `${status}, attivo`,
      external_id: 'matricola, numero di matricola, codice dipendente, identificativo',
    },
    values: {
      status: {
        active: 'attivo, attiva, in servizio, in maternità, sì',
        inactive: 'inattivo, inattiva, cessato, cessata, disattivato, bloccato',
      },
      kind: {
        human:
          'dipendente, interno, interna, stagista, apprendista, tempo indeterminato, tempo determinato, tempo pieno, a tempo indeterminato, a tempo determinato',
        external: 'esterno, esterna, consulente, collaboratore esterno, fornitore',
      },
    },
  },
  group: {
    sheets: 'gruppo, gruppi, squadre',
    columns: {
      name: 'gruppo, nome del gruppo, squadra, nome gruppo',
      description,
      parent_id: 'gruppo superiore',
      lead_user_id: 'responsabile, capo gruppo',
      member_user_ids: 'membri, membro, componenti',
    },
  },
  project: {
    sheets: 'progetto, progetti',
    columns: {
      name: 'progetto, nome del progetto, nome progetto, titolo, nome',
      description: `${description}, obiettivo`,
      status,
      lead_user_id: 'capo progetto, responsabile, responsabile di progetto',
      start_on: 'inizio, data di inizio, data inizio',
      due_on: `fine, data di fine, data fine, ${due}`,
      external_id: number,
    },
  },
  risk: {
    sheets: 'rischio, rischi',
    columns: {
      title: 'rischio, titolo, oggetto, nome del rischio, nome',
      description: `${description}, descrizione del rischio, causa`,
      kind: 'tipo, tipo di rischio, natura',
      category: 'categoria, categoria di rischio, area',
      probability: 'probabilità, probabilità di accadimento',
      impact: 'impatto, conseguenza, conseguenze, gravità',
      score: 'criticità, punteggio',
      level: 'livello, livello di rischio',
      status,
      strategy: 'strategia, trattamento, strategia di risposta',
      response_plan:
        'misure, piano di azione, piano d’azione, piano di risposta, piano di mitigazione, misura, azioni',
      contingency_plan: 'piano di emergenza',
      trigger: 'indicatore, evento scatenante',
      owner_name: `${responsible}, proprietario del rischio, responsabile del rischio, ${assignee}`,
      raised_by_user_id: 'identificato da, creato da, segnalato da, autore',
      raised_on: `${raised}, identificato il`,
      due_on: due,
      review_on: 'data di revisione, prossima revisione, revisione',
      closure_reason: 'motivo di chiusura',
      lessons: 'lezioni apprese',
      external_id: `${number}, ID rischio, numero rischio`,
    },
    values: {
      status: {
        open: 'aperto, nuovo, identificato, attivo',
        mitigating: 'in corso, in lavorazione, in trattamento',
        monitoring: 'monitorato, in monitoraggio, sotto osservazione, in osservazione',
        accepted: 'accettato',
        materialized: 'verificatosi, materializzato',
        closed: 'chiuso, terminato, completato',
      },
      strategy: {
        avoid: 'evitare',
        mitigate: 'mitigare, ridurre, mitigazione, riduzione',
        transfer: 'trasferire, trasferimento',
        accept: 'accettare, accettazione',
        exploit: 'sfruttare',
        enhance: 'migliorare',
        share: 'condividere',
      },
      kind: { threat: 'rischio, minaccia', opportunity: 'opportunità' },
    },
  },
  issue: {
    sheets: 'problemi, segnalazioni',
    columns: {
      title: 'titolo, oggetto, problema, segnalazione, riepilogo, nome',
      description: `${description}, descrizione del problema`,
      severity: 'severità, gravità, impatto, criticità',
      priority: 'priorità, urgenza',
      status,
      resolution: 'risoluzione, soluzione',
      resolution_note: 'note di risoluzione',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'creato da, segnalato da, autore, richiedente',
      raised_on: raised,
      due_on: due,
      blocked_reason: 'bloccato da',
      external_id: `${number}, chiave`,
      source_url: 'collegamento',
    },
    values: {
      status: {
        open: 'aperto, aperta, nuovo, nuova, da fare',
        in_progress: 'in corso, in lavorazione, assegnato',
        blocked: 'bloccato, bloccata, in attesa, sospeso',
        resolved: 'risolto, risolta',
        closed: 'chiuso, chiusa, annullato',
      },
      severity: {
        critical: 'critico, critica, molto alta, molto alto, bloccante',
        high: 'alta, alto, elevata, elevato, maggiore',
        medium: 'media, medio, moderata, moderato',
        low: 'bassa, basso, minore',
      },
      priority: {
        urgent: 'urgente, critica, critico, molto alta, immediata',
        high: 'alta, alto, elevata',
        normal: 'media, medio, normale',
        low: 'bassa, basso',
      },
    },
  },
  task: {
    sheets: 'attività, compiti',
    columns: {
      title: 'attività, titolo, oggetto, compito, azione, nome attività, nome',
      description: `${description}, descrizione attività`,
      kind: 'tipo',
      status: `${status}, avanzamento, % completamento`,
      assignee_name: `${assignee}, responsabile, chi`,
      start_on: 'inizio, data di inizio, data inizio',
      due_on: `${due}, fine, data di fine, data fine`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'da fare, aperto, aperta, nuovo, nuova, non iniziato, non iniziata, pianificata',
        in_progress: 'in corso, in lavorazione, iniziata, iniziato',
        blocked: 'bloccato, bloccata, in attesa, sospeso, sospesa',
        done: 'fatto, fatta, completato, completata, terminato, terminata, chiusa, chiuso, sì',
        cancelled: 'annullato, annullata',
      },
    },
  },
};
