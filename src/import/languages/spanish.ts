import type { Language } from './language.ts';

const status = 'estado, situación, estado actual';
const raised =
  'fecha de creación, creado el, creado, fecha, fecha de apertura, fecha de registro, fecha de identificación';
const due = 'vencimiento, fecha de vencimiento, fecha límite, plazo, fecha objetivo';
const number = 'número, n.º, núm, referencia, ref., código, identificador';
const description = 'descripción, detalle, detalles, comentario, comentarios, observaciones, notas';
const responsible = 'responsable, propietario, dueño';
const assignee = 'asignado a, asignada a, asignado, encargado';

export const spanish: Language = {
  nobody: 'nadie, ninguno, ninguna, sin asignar, no asignado, por definir, vacante',
  statusWords: 'estado, situación, activo, inactivo, bloqueado, desactivado, archivado',
  projectColumns: 'proyecto, nombre del proyecto',
  firstName: 'nombre de pila',
  lastName: 'apellidos, apellido',
  inactive: { columns: 'inactivo, bloqueado, desactivado', yes: 'sí, verdadero', no: 'falso' },
  rejected: 'rechazado',
  probability: {
    1: 'muy bajo, muy baja, muy poco probable, raro, rara, remoto, remota',
    2: 'bajo, baja, poco probable',
    3: 'medio, media, moderado, moderada, posible',
    4: 'alto, alta, probable',
    5: 'muy alto, muy alta, muy probable, casi seguro, casi segura',
  },
  impact: {
    1: 'muy bajo, muy baja, insignificante, despreciable',
    2: 'bajo, baja, menor',
    3: 'medio, media, moderado, moderada',
    4: 'alto, alta, mayor',
    5: 'muy alto, muy alta, crítico, crítica, catastrófico, extremo',
  },
  levels: {
    low: 'bajo, baja, muy bajo, verde',
    medium: 'medio, media, moderado, amarillo',
    high: 'alto, alta, rojo',
    critical: 'crítico, muy alto, extremo',
  },
  person: {
    sheets: 'personas, empleados, plantilla',
    columns: {
      name: 'nombre, nombre completo, nombre y apellidos, empleado, trabajador, apellidos y nombre',
      email: 'correo, correo electrónico, e-mail corporativo, dirección de correo',
      title: 'cargo, puesto, puesto de trabajo',
      department: 'departamento, área, unidad',
      location: 'ubicación, sede, oficina, ciudad, centro de trabajo',
      phone: 'teléfono, número de teléfono, móvil, tel.',
      time_zone: 'zona horaria',
      kind: 'tipo de contrato, tipo de empleado, contrato, tipo',
      manager_user_id: 'responsable, jefe, supervisor directo, reporta a, superior, gerente',
      skills: 'competencias, habilidades',
      start_on: 'fecha de alta, fecha de inicio, fecha de contratación, fecha de ingreso, inicio, alta',
      end_on: 'fecha de baja, fecha de fin, fin, fin de contrato, fecha de salida',
      status: `${status}, activo`,
      external_id: 'número de empleado, código de empleado, legajo, matrícula, identificador',
    },
    values: {
      status: {
        active: 'activo, activa, de permiso, sí',
        inactive: 'inactivo, inactiva, de baja definitiva, desactivado, bloqueado',
      },
      kind: {
        human:
          'empleado, empleada, interno, interna, indefinido, becario, fijo, jornada completa, media jornada',
        external: 'externo, externa, contratista, autónomo, subcontratado',
      },
    },
  },
  group: {
    sheets: 'grupo, grupos, equipos',
    columns: {
      name: 'grupo, nombre del grupo, equipo, nombre del equipo',
      description,
      parent_id: 'grupo superior',
      lead_user_id: 'responsable, jefe de equipo',
      member_user_ids: 'miembros, miembro, integrantes',
    },
  },
  project: {
    sheets: 'proyecto, proyectos',
    columns: {
      name: 'proyecto, nombre del proyecto, título, nombre',
      description: `${description}, objetivo`,
      status,
      lead_user_id: 'jefe de proyecto, responsable, director de proyecto',
      start_on: 'inicio, fecha de inicio',
      due_on: `fin, fecha de fin, ${due}`,
      external_id: number,
    },
  },
  risk: {
    sheets: 'riesgo, riesgos',
    columns: {
      title: 'riesgo, título, asunto, nombre del riesgo, título del riesgo, nombre',
      description: `${description}, descripción del riesgo, causa, causas`,
      kind: 'tipo, tipo de riesgo, naturaleza',
      category: 'categoría, categoría de riesgo, área',
      probability: 'probabilidad, probabilidad de ocurrencia',
      impact: 'impacto, consecuencia, consecuencias, gravedad',
      score: 'criticidad, puntuación, valoración',
      level: 'nivel, nivel de riesgo',
      status,
      strategy: 'estrategia, tratamiento, estrategia de respuesta',
      response_plan: 'medidas, plan de acción, plan de respuesta, plan de mitigación, medida, acciones',
      contingency_plan: 'plan de contingencia',
      trigger: 'disparador, desencadenante, indicador',
      owner_name: `${responsible}, propietario del riesgo, responsable del riesgo, ${assignee}`,
      raised_by_user_id: 'identificado por, creado por, informado por, autor',
      raised_on: `${raised}, identificado el`,
      due_on: due,
      review_on: 'fecha de revisión, próxima revisión, revisión',
      closure_reason: 'motivo de cierre',
      lessons: 'lecciones aprendidas',
      external_id: `${number}, ID del riesgo, número de riesgo`,
    },
    values: {
      status: {
        open: 'abierto, nuevo, identificado, activo',
        mitigating: 'en curso, en proceso, en tratamiento, en progreso',
        monitoring: 'en seguimiento, monitoreado, en observación, bajo vigilancia',
        accepted: 'aceptado',
        materialized: 'materializado, ocurrido',
        closed: 'cerrado, terminado, finalizado',
      },
      strategy: {
        avoid: 'evitar',
        mitigate: 'mitigar, reducir, mitigación, reducción',
        transfer: 'transferir, transferencia',
        accept: 'aceptar, aceptación',
        escalate: 'escalar',
        exploit: 'explotar',
        enhance: 'mejorar',
        share: 'compartir',
      },
      kind: { threat: 'riesgo, amenaza', opportunity: 'oportunidad' },
    },
  },
  issue: {
    sheets: 'problemas, incidencias',
    columns: {
      title: 'título, asunto, problema, incidencia, resumen, nombre',
      description: `${description}, descripción del problema`,
      severity: 'severidad, gravedad, impacto, criticidad',
      priority: 'prioridad, urgencia',
      status,
      resolution: 'resolución, solución',
      resolution_note: 'notas de resolución',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'creado por, informado por, reportado por, autor, solicitante',
      raised_on: raised,
      due_on: due,
      blocked_reason: 'bloqueado por',
      external_id: `${number}, clave`,
      source_url: 'enlace',
    },
    values: {
      status: {
        open: 'abierto, abierta, nuevo, nueva, por hacer, pendiente',
        in_progress: 'en curso, en proceso, en progreso, asignado',
        blocked: 'bloqueado, bloqueada, en espera',
        resolved: 'resuelto, resuelta, solucionado',
        closed: 'cerrado, cerrada, cancelado',
      },
      severity: {
        critical: 'crítico, crítica, muy alta, muy alto, bloqueante',
        high: 'alta, alto, mayor',
        medium: 'media, medio, moderada, moderado',
        low: 'baja, bajo, menor',
      },
      priority: {
        urgent: 'urgente, crítica, crítico, muy alta, inmediata',
        high: 'alta, alto',
        normal: 'media, medio',
        low: 'baja, bajo',
      },
    },
  },
  task: {
    sheets: 'tarea, tareas',
    columns: {
      title: 'tarea, título, asunto, nombre de la tarea, acción, actividad, nombre',
      description: `${description}, descripción de la tarea`,
      kind: 'tipo',
      status: `${status}, progreso, avance, % completado`,
      assignee_name: `${assignee}, responsable, quién`,
      start_on: 'inicio, fecha de inicio',
      due_on: `${due}, fin, fecha de fin`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'por hacer, pendiente, abierto, abierta, nuevo, nueva, no iniciado, no iniciada',
        in_progress: 'en curso, en proceso, en progreso, iniciada',
        blocked: 'bloqueado, bloqueada, en espera',
        done: 'hecho, hecha, terminado, terminada, completado, completada, finalizada, finalizado, cerrada, sí',
        cancelled: 'cancelado, cancelada, descartada',
      },
    },
  },
};
