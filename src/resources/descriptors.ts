import { accessResource } from './access/schema.ts';
import { categoryResource } from './categories/schema.ts';
import { commentResource } from './comments/schema.ts';
import { groupResource } from './groups/schema.ts';
import { issueResource } from './issues/schema.ts';
import { keyResource } from './keys/schema.ts';
import { mappingResource } from './mappings/schema.ts';
import { organizationResource } from './organization/schema.ts';
import { personResource } from './personnel/schema.ts';
import { projectResource } from './projects/schema.ts';
import { reportResource } from './reports/schema.ts';
import { riskModelResource } from './risk-model/schema.ts';
import { riskResource } from './risks/schema.ts';
import { sessionResource } from './sessions/schema.ts';
import { taskResource } from './tasks/schema.ts';
import { viewResource } from './views/schema.ts';
import { webhookResource } from './webhooks/schema.ts';

/** Every resource, in the order of the API reference; also a table after the tables that it refers to. */
export const resources = [
  personResource,
  groupResource,
  projectResource,
  riskResource,
  issueResource,
  taskResource,
  commentResource,
  viewResource,
  reportResource,
  categoryResource,
  organizationResource,
  mappingResource,
  accessResource,
  keyResource,
  riskModelResource,
  sessionResource,
  webhookResource,
] as const;
