import type { Language } from './language.ts';

const status = 'statut, état, état actuel';
const raised =
  'date de création, créé le, créée le, signalé le, ouvert le, date de signalement, identifié le';
const due = 'échéance, date d’échéance, date limite, date cible, délai';
const number = 'numéro, n°, référence, réf, identifiant';
const description = 'descriptif, détails, commentaire, commentaires, remarque, remarques';
const responsible = 'responsable, porteur, propriétaire, pilote';
const assignee = 'assigné à, affecté à, attribué à, assigné, assignée à';

export const french: Language = {
  nobody: 'personne, aucun, aucune, non assigné, non affecté, non attribué, à définir, vacant',
  statusWords: 'statut, état, actif, active, inactif, bloqué, désactivé, archivé',
  projectColumns: 'projet, nom du projet',
  firstName: 'prénom',
  lastName: 'nom de famille',
  inactive: {
    columns: 'inactif, bloqué, désactivé, parti',
    yes: 'oui, vrai',
    no: 'non, faux',
  },
  rejected: 'rejeté, refusé',
  probability: {
    1: 'très faible, très peu probable, très improbable',
    2: 'faible, peu probable',
    3: 'moyen, moyenne, modéré, modérée',
    4: 'élevé, élevée, fort, forte',
    5: 'très élevé, très élevée, très probable, quasi certain, quasi certaine, presque certain, très fort, très forte',
  },
  impact: {
    1: 'très faible, négligeable, insignifiant',
    2: 'faible, mineur, mineure',
    3: 'moyen, moyenne, modéré, modérée',
    4: 'élevé, élevée, fort, forte, majeur, majeure',
    5: 'très élevé, très élevée, très fort, très forte, critique, catastrophique, extrême',
  },
  levels: {
    low: 'faible, très faible, vert',
    medium: 'moyen, moyenne, modéré, jaune',
    high: 'élevé, élevée, fort, rouge',
    critical: 'critique, très élevé, très élevée, extrême',
  },
  person: {
    sheets: 'personnes, collaborateurs, salariés, effectifs',
    columns: {
      name: 'nom, nom complet, nom et prénom, prénom et nom, collaborateur, salarié, employé, nom prénom',
      email: 'e-mail professionnel, adresse e-mail, courriel, adresse électronique, mél, adresse mail',
      title: 'poste, fonction, intitulé du poste, emploi',
      department: 'service, département, direction, unité',
      location: 'lieu, lieu de travail, bureau, ville',
      phone: 'téléphone, numéro de téléphone, tél, portable, téléphone professionnel',
      time_zone: 'fuseau horaire',
      kind: 'type de contrat, type de collaborateur, contrat',
      manager_user_id: 'responsable, supérieur, supérieur hiérarchique, responsable hiérarchique, N+1',
      skills: 'compétences',
      start_on: 'date d’entrée, date d’embauche, date de début, entrée, début, date d’arrivée',
      end_on: 'date de sortie, date de fin, sortie, fin, date de départ, fin de contrat',
      status: `${status}, actif`,
      external_id: 'matricule, numéro de matricule, identifiant, numéro d’employé',
    },
    values: {
      status: {
        active: 'actif, en poste, présent, congé maternité, congé parental, oui',
        inactive: 'inactif, inactive, sorti, parti, désactivé, bloqué, non',
      },
      kind: {
        human:
          'salarié, salariée, employé, employée, CDI, CDD, interne, stagiaire, alternant, apprenti, temps plein, temps partiel',
        external: 'externe, prestataire, intérimaire, sous-traitant, indépendant',
      },
    },
  },
  group: {
    sheets: 'groupe, groupes, équipe, équipes',
    columns: {
      name: 'groupe, nom du groupe, équipe, nom de l’équipe',
      description,
      parent_id: 'groupe parent',
      lead_user_id: 'responsable, chef d’équipe',
      member_user_ids: 'membres, membre',
    },
  },
  project: {
    sheets: 'projet, projets',
    columns: {
      name: 'projet, nom du projet, titre, nom',
      description: `${description}, objectif`,
      status,
      lead_user_id: 'chef de projet, responsable, responsable du projet',
      start_on: 'début, date de début',
      due_on: `fin, date de fin, ${due}`,
      external_id: `${number}, numéro de projet`,
    },
  },
  risk: {
    sheets: 'risque, risques',
    columns: {
      title: 'risque, titre, sujet, intitulé, intitulé du risque, libellé, titre du risque, nom du risque',
      description: `${description}, description du risque`,
      kind: 'type de risque',
      category: 'catégorie, catégorie de risque, domaine',
      probability: 'probabilité, vraisemblance, probabilité d’occurrence',
      impact: 'gravité, conséquence, conséquences',
      score: 'criticité, score du risque, cotation',
      level: 'niveau, niveau de risque',
      status,
      strategy: 'stratégie, traitement, stratégie de réponse',
      response_plan:
        'mesures, plan d’action, plan de réponse, mesure, actions de maîtrise, plan de traitement',
      contingency_plan: 'plan de secours, plan de contingence',
      trigger: 'déclencheur, indicateur',
      owner_name: `${responsible}, propriétaire du risque, responsable du risque, ${assignee}`,
      raised_by_user_id: 'signalé par, identifié par, créé par, auteur, émetteur',
      raised_on: `${raised}, date d’identification`,
      due_on: due,
      review_on: 'date de revue, prochaine revue, revue',
      closure_reason: 'motif de clôture',
      lessons: 'retour d’expérience',
      external_id: `${number}, numéro de risque, ID du risque`,
    },
    values: {
      status: {
        open: 'ouvert, nouveau, identifié, actif',
        mitigating: 'en cours, en cours de traitement, en traitement',
        monitoring: 'surveillé, sous surveillance, en surveillance, surveillance',
        accepted: 'accepté',
        materialized: 'survenu, réalisé, avéré',
        closed: 'fermé, clos, clôturé, terminé',
      },
      strategy: {
        avoid: 'éviter, évitement',
        mitigate: 'réduire, réduction, atténuer, atténuation',
        transfer: 'transférer, transfert',
        accept: 'accepter, acceptation',
        escalate: 'escalader, escalade',
        exploit: 'exploiter',
        enhance: 'améliorer, renforcer',
        share: 'partager, partage',
      },
      kind: { threat: 'risque, menace', opportunity: 'opportunité' },
    },
  },
  issue: {
    sheets: 'problèmes, incidents, points ouverts',
    columns: {
      title: 'titre, sujet, problème, objet, intitulé, libellé, résumé, incident, point ouvert',
      description: `${description}, description du problème`,
      severity: 'gravité, sévérité, criticité',
      priority: 'priorité, urgence',
      status,
      resolution: 'résolution, solution',
      resolution_note: 'notes de résolution, description de la résolution',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'signalé par, créé par, auteur, rapporteur, demandeur, émetteur',
      raised_on: raised,
      due_on: `${due}, date d’échéance prévue`,
      blocked_reason: 'bloqué par',
      external_id: `${number}, clé`,
      source_url: 'lien',
    },
    values: {
      status: {
        open: 'ouvert, nouveau, à faire',
        in_progress: 'en cours, en cours de traitement, commencé, assigné',
        blocked: 'bloqué, en attente, suspendu',
        resolved: 'résolu, corrigé, terminé',
        closed: 'fermé, clos, clôturé, annulé',
      },
      severity: {
        critical: 'critique, bloquant, très élevé, très élevée',
        high: 'élevé, élevée, haute, haut, majeur, majeure, fort, forte',
        medium: 'moyen, moyenne, modéré, modérée, normale',
        low: 'faible, basse, bas, mineur, mineure',
      },
      priority: {
        urgent: 'urgente, critique, immédiate, très élevée, très haute',
        high: 'haute, élevée, élevé, haut, forte',
        normal: 'normale, moyenne, moyen',
        low: 'basse, faible, bas',
      },
    },
  },
  task: {
    sheets: 'tâche, tâches, actions',
    columns: {
      title: 'tâche, titre, sujet, intitulé, libellé, nom de la tâche, objet',
      description: `${description}, description de la tâche`,
      status: `${status}, avancement, progression, % achevé`,
      assignee_name: `${assignee}, responsable, porteur, pilote, qui`,
      start_on: 'début, date de début',
      due_on: `${due}, fin, date de fin, pour le`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'à faire, ouvert, nouveau, non commencé, non commencée, planifié, ouverte, nouvelle',
        in_progress: 'en cours, commencé, commencée',
        blocked: 'bloqué, bloquée, en attente, suspendu, suspendue',
        done: 'terminé, terminée, fait, faite, achevé, clôturé, oui',
        cancelled: 'annulé, annulée, abandonné, abandonnée',
      },
    },
  },
};
