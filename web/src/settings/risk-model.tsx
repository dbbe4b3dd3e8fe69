import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { RatingsMap, RiskModel, RiskModelChange, RiskModelInput } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { useAction } from '../components/action-button.tsx';
import { ByActor } from '../components/actor.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { UnsavedChanges } from '../components/unsaved.tsx';
import { formatTime, pluralize } from '../format.ts';
import { useRiskModel } from '../risks/model.ts';
import { draftOf, type ModelDraft } from './model-draft.ts';
import { ModelEditor } from './model-editor.tsx';
import { Preview } from './model-preview.tsx';
import './risk-model.css';

/** The risk model of the organization: an editor, what a change would do, and the former versions. */
export const RiskModelSettings = () => (
  <Loaded query={useRiskModel()}>{(model) => <Settings model={model} />}</Loaded>
);

/** What is to be applied, and what the service says that it would change. */
type Tried = { from: RiskModel; input: RiskModelInput; change: RiskModelChange };

/** What was changed here, and the version that it was changed in. */
type Mine = { base: RiskModel; draft: ModelDraft };

function Settings({ model }: { model: RiskModel }) {
  const canEdit = useHasScope()('projects.manage');
  const refresh = useRefresh();
  const { isBusy, run } = useAction();
  const [mine, setMine] = useState<Mine>();
  const { base, draft } = mine ?? { base: model, draft: draftOf(model) };
  const isDirty = JSON.stringify(draft) !== JSON.stringify(draftOf(base));
  const [lastTried, setTried] = useState<Tried>();
  const tried = lastTried?.from.version === model.version ? lastTried : undefined;
  const put = (body: RiskModelInput, dry_run: boolean) =>
    dataOrThrow(api.PUT('/v1/risk-model', { params: { query: { dry_run } }, body, ...ifMatch(model) }));
  const tryOut = (input: RiskModelInput) =>
    run(async () => setTried({ from: model, input, change: await put(input, true) }));
  const apply = ({ input }: Tried) =>
    run(async () => {
      const { model: next, changes } = await put(input, false);
      if (!input.restore_version) setMine(undefined);
      await refresh();
      toast(`Version ${next.version} of the risk model applies; ${pluralize(changes.risks, 'risk')} changed`);
    });
  const change = (next: Mine | undefined) => {
    setMine(next);
    // It was about another draft.
    setTried(undefined);
  };
  return (
    <div className="risk-model">
      <UnsavedChanges isDirty={isDirty} />
      {isDirty && base.version !== model.version && (
        <div className="notice" role="alert">
          <p>
            Version {model.version} applies
            {model.changed_by && (
              <>
                {' '}
                <ByActor actor={model.changed_by} />
              </>
            )}
            . Your draft is from version {base.version} and would replace it.
          </p>
          <Button small onPress={() => change(undefined)}>
            Discard draft
          </Button>
        </div>
      )}
      <ModelEditor
        key={isDirty ? base.version : model.version}
        draft={draft}
        isReadOnly={!canEdit}
        onChange={(next) => change({ base, draft: next })}
      />
      {canEdit && (
        <div className="button-row">
          <Button primary={!tried} isPending={isBusy} onPress={() => tryOut(draft)}>
            Preview changes
          </Button>
          <Button plain onPress={() => change(undefined)}>
            Discard
          </Button>
        </div>
      )}
      {tried && (
        <Preview
          from={model}
          change={tried.change}
          isBusy={isBusy}
          onMap={(ratings_map: RatingsMap) => tryOut({ ...tried.input, ratings_map })}
          onApply={() => apply(tried)}
          onCancel={() => setTried(undefined)}
        />
      )}
      <Versions
        current={model.version}
        {...(canEdit && { onRestore: (restore_version: number) => tryOut({ restore_version }) })}
      />
    </div>
  );
}

type VersionsProps = { current: number; onRestore?: (version: number) => void };

function Versions({ current, onRestore }: VersionsProps) {
  const query = useQuery({
    queryKey: ['risk-model', 'versions', current],
    queryFn: () => dataOrThrow(api.GET('/v1/risk-model/versions')),
  });
  return (
    <Card id="versions" title="Versions">
      <Loaded query={query}>
        {({ data }) => (
          <ul className="versions">
            {data.map(({ version, changed_at, changed_by, reason, model }) => (
              <li key={version}>
                <span>
                  <strong>Version {version}</strong> · {model.probability.length} × {model.impact.length}{' '}
                  <span className="quiet">
                    {changed_at && changed_by ? (
                      <>
                        {formatTime(changed_at)} <ByActor actor={changed_by} />
                      </>
                    ) : (
                      'the model of the first start'
                    )}
                    {reason && `: ${reason}`}
                  </span>
                </span>
                {version === current ? (
                  <span className="chip">In force</span>
                ) : (
                  onRestore && (
                    <Button
                      small
                      onPress={() => onRestore(version)}
                      aria-label={`Return to version ${version}`}
                    >
                      Return to it
                    </Button>
                  )
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
