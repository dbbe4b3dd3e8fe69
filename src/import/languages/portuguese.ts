import type { Language } from './language.ts';

const status = 'estado, situação, status atual';
const raised =
  'data de criação, criado em, data, data de abertura, aberto em, data de identificação, data de registo, data de registro';
const due = 'prazo, vencimento, data de vencimento, data limite, data prevista';
const number = 'número, n.º, referência, ref., código, identificador';
const description = 'descrição, detalhe, detalhes, comentário, comentários, observações, notas';
const responsible = 'responsável, proprietário, dono';
const assignee = 'atribuído a, atribuída a, atribuído, encarregado, atribuído para';

export const portuguese: Language = {
  nobody: 'ninguém, nenhum, nenhuma, não atribuído, por definir, a definir, vago',
  statusWords: 'estado, situação, ativo, activo, inativo, bloqueado, desativado, arquivado',
  projectColumns: 'projeto, projecto, nome do projeto',
  firstName: 'primeiro nome, nome próprio',
  lastName: 'sobrenome, apelido, último nome',
  inactive: {
    columns: 'inativo, bloqueado, desativado, desligado',
    yes: 'sim, verdadeiro',
    no: 'não, falso',
  },
  rejected: 'rejeitado, recusado',
  probability: {
    1: 'muito baixo, muito baixa, muito improvável, raro, rara, remoto, remota',
    2: 'baixo, baixa, improvável, pouco provável',
    3: 'médio, média, moderado, moderada, possível',
    4: 'alto, alta, elevado, elevada, provável',
    5: 'muito alto, muito alta, muito elevado, muito elevada, muito provável, quase certo, quase certa',
  },
  impact: {
    1: 'muito baixo, muito baixa, insignificante, desprezível',
    2: 'baixo, baixa, menor',
    3: 'médio, média, moderado, moderada',
    4: 'alto, alta, elevado, elevada, maior',
    5: 'muito alto, muito alta, muito elevado, muito elevada, crítico, crítica, catastrófico, extremo',
  },
  levels: {
    low: 'baixo, baixa, muito baixo, verde',
    medium: 'médio, média, moderado, amarelo',
    high: 'alto, alta, elevado, vermelho',
    critical: 'crítico, muito alto, extremo',
  },
  person: {
    sheets: 'pessoas, funcionários, colaboradores',
    columns: {
      name: 'nome, nome completo, funcionário, colaborador, empregado',
      email: 'correio eletrónico, endereço de e-mail, e-mail corporativo, e-mail profissional',
      title: 'cargo, função',
      department: 'departamento, área, setor, unidade',
      location: 'localização, local, local de trabalho, escritório, cidade',
      phone: 'telefone, número de telefone, celular, telemóvel, tel.',
      time_zone: 'fuso horário',
      kind: 'tipo de contrato, contrato, vínculo, tipo',
      manager_user_id: 'gestor, gerente, superior, chefe, responsável, reporta a',
      skills: 'competências, habilidades',
      start_on: 'data de admissão, data de início, admissão, início, data de entrada',
      end_on: 'data de desligamento, data de saída, data de fim, data de término, término, fim',
      status: `${status}, ativo`,
      external_id:
        'matrícula, número de funcionário, número mecanográfico, código do funcionário, identificador',
    },
    values: {
      status: {
        active: 'ativo, ativa, activo, de licença, afastado, sim',
        inactive: 'inativo, inativa, inactivo, desligado, desativado, bloqueado, não',
      },
      kind: {
        human:
          'funcionário, funcionária, empregado, efetivo, interno, interna, estagiário, CLT, tempo integral',
        external: 'externo, externa, terceirizado, prestador, freelancer externo, PJ, temporário externo',
      },
    },
  },
  group: {
    sheets: 'grupo, grupos, equipas, equipes',
    columns: {
      name: 'grupo, nome do grupo, equipa, equipe, nome da equipe',
      description,
      parent_id: 'grupo superior',
      lead_user_id: 'responsável, líder',
      member_user_ids: 'membros, membro, integrantes',
    },
  },
  project: {
    sheets: 'projeto, projetos',
    columns: {
      name: 'projeto, projecto, nome do projeto, título, nome',
      description: `${description}, objetivo`,
      status,
      lead_user_id: 'gerente de projeto, gestor de projeto, responsável, gerente do projeto',
      start_on: 'início, data de início',
      due_on: `fim, data de fim, término, data de término, ${due}`,
      external_id: number,
    },
  },
  risk: {
    sheets: 'risco, riscos',
    columns: {
      title: 'risco, título, assunto, nome do risco, nome',
      description: `${description}, descrição do risco, causa, causas`,
      kind: 'tipo, tipo de risco, natureza',
      category: 'categoria, categoria do risco, área',
      probability: 'probabilidade, probabilidade de ocorrência',
      impact: 'impacto, consequência, consequências, gravidade',
      score: 'criticidade, pontuação',
      level: 'nível, nível de risco',
      status,
      strategy: 'estratégia, tratamento, estratégia de resposta',
      response_plan: 'medidas, plano de ação, plano de resposta, plano de mitigação, medida, ações',
      contingency_plan: 'plano de contingência',
      trigger: 'gatilho, indicador',
      owner_name: `${responsible}, proprietário do risco, responsável pelo risco, ${assignee}`,
      raised_by_user_id: 'identificado por, criado por, reportado por, autor',
      raised_on: `${raised}, identificado em`,
      due_on: due,
      review_on: 'data de revisão, próxima revisão, revisão',
      closure_reason: 'motivo de encerramento',
      lessons: 'lições aprendidas',
      external_id: `${number}, ID do risco, número do risco`,
    },
    values: {
      status: {
        open: 'aberto, novo, identificado, ativo',
        mitigating: 'em curso, em andamento, em tratamento, em progresso',
        monitoring: 'monitorado, em monitoramento, em observação, monitorizado',
        accepted: 'aceito, aceite',
        materialized: 'materializado, ocorrido',
        closed: 'fechado, encerrado, concluído',
      },
      strategy: {
        avoid: 'evitar',
        mitigate: 'mitigar, reduzir, mitigação, redução',
        transfer: 'transferir, transferência',
        accept: 'aceitar, aceitação',
        escalate: 'escalar',
        exploit: 'explorar',
        enhance: 'melhorar',
        share: 'compartilhar, partilhar',
      },
      kind: { threat: 'risco, ameaça', opportunity: 'oportunidade' },
    },
  },
  issue: {
    sheets: 'problemas, ocorrências',
    columns: {
      title: 'título, assunto, problema, ocorrência, resumo, nome',
      description: `${description}, descrição do problema`,
      severity: 'severidade, gravidade, impacto, criticidade',
      priority: 'prioridade, urgência',
      status,
      resolution: 'resolução, solução',
      resolution_note: 'notas de resolução',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'criado por, reportado por, relatado por, autor, solicitante',
      raised_on: raised,
      due_on: due,
      blocked_reason: 'bloqueado por',
      external_id: `${number}, chave`,
      source_url: 'ligação',
    },
    values: {
      status: {
        open: 'aberto, aberta, novo, nova, a fazer, por fazer, pendente',
        in_progress: 'em curso, em andamento, em progresso, atribuído',
        blocked: 'bloqueado, bloqueada, em espera, suspenso',
        resolved: 'resolvido, resolvida, corrigido',
        closed: 'fechado, fechada, encerrado, cancelado',
      },
      severity: {
        critical: 'crítico, crítica, muito alta, muito alto, bloqueante',
        high: 'alta, alto, elevada, elevado, maior',
        medium: 'média, médio, moderada, moderado',
        low: 'baixa, baixo, menor',
      },
      priority: {
        urgent: 'urgente, crítica, crítico, muito alta, imediata',
        high: 'alta, alto, elevada',
        normal: 'média, médio',
        low: 'baixa, baixo',
      },
    },
  },
  task: {
    sheets: 'tarefa, tarefas',
    columns: {
      title: 'tarefa, título, assunto, ação, atividade, nome da tarefa, nome',
      description: `${description}, descrição da tarefa`,
      kind: 'tipo',
      status: `${status}, progresso, andamento, % concluído`,
      assignee_name: `${assignee}, responsável, quem`,
      start_on: 'início, data de início',
      due_on: `${due}, fim, data de fim, término`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'a fazer, por fazer, pendente, aberto, aberta, novo, nova, não iniciado, não iniciada',
        in_progress: 'em curso, em andamento, em progresso, iniciada',
        blocked: 'bloqueado, bloqueada, em espera, suspensa',
        done: 'feito, feita, concluído, concluída, terminado, terminada, finalizado, sim',
        cancelled: 'cancelado, cancelada',
      },
    },
  },
};
