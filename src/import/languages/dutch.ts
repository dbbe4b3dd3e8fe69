import type { Language } from './language.ts';

const status = 'toestand, huidige status, stand van zaken';
const raised =
  'aangemaakt, aangemaakt op, gemeld op, datum, aanmaakdatum, geopend op, datum melding, geïdentificeerd op';
const due = 'vervaldatum, streefdatum, einddatum, gereed voor, uiterste datum';
const number = 'nummer, nr, referentie, kenmerk, volgnummer';
const description = 'omschrijving, beschrijving, toelichting, opmerking, opmerkingen, details';
const responsible = 'verantwoordelijke, eigenaar, verantwoordelijk';
const assignee = 'toegewezen aan, toegewezen, behandelaar, uitvoerder';

export const dutch: Language = {
  nobody: 'niemand, geen, niet toegewezen, nader te bepalen, ntb, vacature',
  statusWords: 'toestand, actief, inactief, geblokkeerd, gedeactiveerd, gearchiveerd',
  projectColumns: 'projectnaam, naam project',
  firstName: 'voornaam, roepnaam',
  lastName: 'achternaam, familienaam',
  inactive: {
    columns: 'inactief, geblokkeerd, gedeactiveerd, uit dienst',
    yes: 'ja, waar',
    no: 'nee, onwaar',
  },
  rejected: 'afgewezen, afgekeurd',
  probability: {
    1: 'zeer laag, zeer onwaarschijnlijk, zeer klein, zeldzaam',
    2: 'laag, onwaarschijnlijk, klein',
    3: 'gemiddeld, middel, matig, mogelijk',
    4: 'hoog, waarschijnlijk, groot',
    5: 'zeer hoog, zeer waarschijnlijk, zeer groot, vrijwel zeker, bijna zeker',
  },
  impact: {
    1: 'zeer laag, zeer klein, verwaarloosbaar, onbeduidend',
    2: 'laag, klein',
    3: 'gemiddeld, middel, matig',
    4: 'hoog, groot',
    5: 'zeer hoog, zeer groot, kritiek, catastrofaal, extreem',
  },
  levels: {
    low: 'laag, zeer laag, groen',
    medium: 'gemiddeld, middel, matig, geel',
    high: 'hoog, rood',
    critical: 'kritiek, zeer hoog, extreem',
  },
  person: {
    sheets: 'medewerkers, personeel, personen',
    columns: {
      name: 'naam, volledige naam, medewerker, naam medewerker, werknemer',
      email: 'e-mailadres, mailadres, zakelijke e-mail, zakelijk e-mailadres',
      title: 'functie, functietitel, functienaam, rol',
      department: 'afdeling, organisatie-eenheid, divisie',
      location: 'locatie, vestiging, standplaats, kantoor, werkplek, plaats',
      phone: 'telefoon, telefoonnummer, mobiel, mobiel nummer, tel.',
      time_zone: 'tijdzone',
      kind: 'soort dienstverband, dienstverband, contractvorm, soort medewerker, soort',
      manager_user_id: 'leidinggevende, direct leidinggevende, teamleider, rapporteert aan',
      skills: 'vaardigheden, competenties',
      start_on: 'datum in dienst, in dienst, indiensttreding, startdatum, begindatum, ingangsdatum',
      end_on: 'datum uit dienst, einde dienstverband, einddatum, uitdiensttreding, datum einde',
      status: `${status}, actief`,
      external_id: 'personeelsnummer, medewerkernummer, werknemersnummer',
    },
    values: {
      status: {
        active: 'actief, in dienst, ja, zwangerschapsverlof',
        inactive: 'inactief, uit dienst, geblokkeerd, vertrokken, nee',
      },
      kind: {
        human:
          'medewerker, werknemer, vast, vaste medewerker, tijdelijk, stagiair, voltijd, deeltijd, fulltime, parttime, intern, vast contract',
        external: 'extern, externe medewerker, inhuur, uitzendkracht, zzp, zzp’er, gedetacheerd',
      },
    },
  },
  group: {
    sheets: 'groep, groepen',
    columns: {
      name: 'groep, groepsnaam, naam groep, teamnaam',
      description,
      parent_id: 'bovenliggende groep',
      lead_user_id: 'teamleider, leider',
      member_user_ids: 'leden, lid',
    },
  },
  project: {
    sheets: 'projecten',
    columns: {
      name: 'projectnaam, naam project, titel, naam',
      description: `${description}, doel`,
      status,
      lead_user_id: 'projectleider, verantwoordelijke, projectmanager',
      start_on: 'begin, startdatum, begindatum',
      due_on: `einde, ${due}`,
      external_id: `${number}, projectnummer`,
    },
  },
  risk: {
    sheets: 'risico, risico’s',
    columns: {
      title: 'risico, titel, onderwerp, naam risico, benaming, risicotitel, naam',
      description: `${description}, risico-omschrijving, omschrijving risico, oorzaak`,
      kind: 'soort, soort risico',
      category: 'categorie, risicocategorie, gebied',
      probability: 'kans, waarschijnlijkheid, kans van optreden',
      impact: 'gevolg, gevolgen',
      score: 'risicoscore',
      level: 'niveau, risiconiveau',
      status,
      strategy: 'strategie, risicostrategie, aanpak, behandeling',
      response_plan: 'maatregel, maatregelen, beheersmaatregel, beheersmaatregelen, actieplan',
      contingency_plan: 'noodplan, terugvalplan',
      trigger: 'aanleiding, indicator',
      owner_name: `${responsible}, risico-eigenaar, risicoeigenaar, ${assignee}`,
      raised_by_user_id: 'gemeld door, melder, geïdentificeerd door, aangemaakt door',
      raised_on: raised,
      due_on: due,
      review_on: 'evaluatiedatum, volgende evaluatie, herzieningsdatum',
      closure_reason: 'reden van sluiting',
      lessons: 'geleerde lessen',
      external_id: `${number}, risiconummer, risico-ID`,
    },
    values: {
      status: {
        open: 'nieuw, geïdentificeerd, actief',
        mitigating: 'in behandeling, in uitvoering',
        monitoring: 'gemonitord, monitoren, bewaken, onder bewaking',
        accepted: 'geaccepteerd',
        materialized: 'opgetreden, ingetreden',
        closed: 'gesloten, afgesloten, vervallen, afgerond',
      },
      strategy: {
        avoid: 'vermijden',
        mitigate: 'beperken, verminderen, mitigeren, reduceren',
        transfer: 'overdragen, verzekeren',
        accept: 'accepteren',
        escalate: 'escaleren',
        exploit: 'benutten',
        enhance: 'versterken',
        share: 'delen',
      },
      kind: { threat: 'risico, bedreiging', opportunity: 'kans' },
    },
  },
  issue: {
    sheets: 'problemen, meldingen, knelpunten',
    columns: {
      title: 'titel, onderwerp, probleem, melding, knelpunt, samenvatting, benaming, naam',
      description: `${description}, omschrijving probleem`,
      severity: 'ernst',
      priority: 'prioriteit, urgentie',
      status,
      resolution: 'oplossing',
      resolution_note: 'toelichting oplossing',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'gemeld door, melder, aangemaakt door, auteur, aanvrager',
      raised_on: raised,
      due_on: due,
      blocked_reason: 'geblokkeerd door',
      external_id: `${number}, volgnr`,
      source_url: 'koppeling',
    },
    values: {
      status: {
        open: 'nieuw, te doen',
        in_progress: 'in behandeling, in uitvoering, onderhanden, toegewezen',
        blocked: 'geblokkeerd, wachtend, in de wacht',
        resolved: 'opgelost, gereed',
        closed: 'gesloten, afgesloten, geannuleerd',
      },
      severity: {
        critical: 'kritiek, zeer hoog, blokkerend',
        high: 'hoog, groot',
        medium: 'gemiddeld, middel, matig',
        low: 'laag, klein',
      },
      priority: {
        urgent: 'dringend, zeer hoog, kritiek, spoed',
        high: 'hoog',
        normal: 'normaal, gemiddeld, middel',
        low: 'laag',
      },
    },
  },
  task: {
    sheets: 'taak, taken, acties',
    columns: {
      title: 'taak, titel, onderwerp, taaknaam, actie, activiteit, naam',
      description: `${description}, omschrijving taak`,
      kind: 'soort',
      status: `${status}, voortgang, % gereed`,
      assignee_name: `${assignee}, verantwoordelijke, wie, eigenaar`,
      start_on: 'begin, startdatum, begindatum',
      due_on: `${due}, einde, gereed op`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'te doen, nieuw, niet gestart, niet begonnen, gepland',
        in_progress: 'in behandeling, in uitvoering, onderhanden, gestart',
        blocked: 'geblokkeerd, wachtend, in de wacht',
        done: 'gereed, klaar, afgerond, voltooid, gesloten, ja',
        cancelled: 'geannuleerd, vervallen',
      },
    },
  },
};
