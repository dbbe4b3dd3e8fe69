import type { Me } from '../api/openapi.ts';
import { actorId } from '../api/session.ts';

/** Where the tab keeps what was typed into a cell, whose row leaves the DOM when it is scrolled out of view. */
export const cellKey = (me: Me, id: string, field: string) => `muster-cell ${actorId(me)} ${id} ${field}`;
