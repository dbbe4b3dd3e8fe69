import { useState } from 'react';
import type { Risk } from '../api/openapi.ts';
import { DueDay, DueSummary, PersonLabel, Score } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { capitalize } from '../format.ts';
import { NoOwner, OwnerLink } from '../personnel/person-link.tsx';
import { Assess } from '../risks/assess.tsx';
import { useRiskEditor } from '../risks/risk-form.tsx';
import { RiskStatusCard } from '../risks/risk-status.tsx';
import { type Keys, PreviewFrame } from './frame.tsx';
import { useAssignLast, withLastPerson } from './last-person.ts';
import { RatingKeys } from './rating-keys.tsx';
import { usePreviewKey } from './use-preview-key.ts';

export function RiskPreview({ risk, ...keys }: Keys & { risk: Risk }) {
  const editor = withLastPerson(useRiskEditor(risk), 'owner_user_id');
  const fact = useInlineFacts(editor);
  const [isAssessing, setAssessing] = useState(false);
  useAssignLast(editor, 'owner_user_id');
  usePreviewKey('r', () => {
    setAssessing(editor.canEdit);
    return editor.canEdit;
  });
  const isOverdue = risk.checks.includes('due_overdue');
  const owner = risk.owner_name && <OwnerLink key="owner" item={risk} />;
  return (
    <PreviewFrame
      {...keys}
      editor={editor}
      responsible="owner_user_id"
      summary={
        <>
          <Score score={risk.score} level={risk.level} kind={risk.kind} />
          {risk.owner_name ? <PersonLabel name={risk.owner_name} /> : <NoOwner />}
          <DueSummary day={risk.due_on} isOverdue={isOverdue} />
        </>
      }
    >
      <RiskStatusCard editor={editor} />
      <Card id="preview-details" title="Details">
        <Facts
          facts={[
            fact('owner_user_id', risk.owner_group_id ? null : (owner ?? <NoOwner key="owner" />)),
            fact('owner_group_id', risk.owner_group_id && owner),
            fact('due_on', risk.due_on && <DueDay key="due" day={risk.due_on} isOverdue={isOverdue} />),
            fact('probability'),
            fact('impact'),
            fact('category', risk.category && capitalize(risk.category)),
            fact('strategy'),
            fact('response_plan'),
          ]}
        />
        {editor.canEdit && <RatingKeys editor={editor} />}
      </Card>
      {isAssessing && <Assess risk={risk} onClose={() => setAssessing(false)} />}
    </PreviewFrame>
  );
}
