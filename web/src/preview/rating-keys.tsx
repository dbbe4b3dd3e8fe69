import { useRef, useState } from 'react';
import type { Risk, RiskPatch } from '../api/openapi.ts';
import type { Editor } from '../fields/editor.ts';
import { useSave } from '../fields/save.ts';
import { wordsOf } from '../risks/kinds.ts';
import { useRiskModel } from '../risks/model.ts';
import { usePreviewKey } from './use-preview-key.ts';

type Props = { editor: Editor<RiskPatch, Risk> };

const digits = ['1', '2', '3', '4', '5', '6', '7'];

/** Two digits rate a risk: its probability, then its impact. */
export function RatingKeys({ editor }: Props) {
  const { data: model } = useRiskModel();
  const save = useSave(editor);
  const words = wordsOf(editor.item.kind);
  const [probability, setProbability] = useState<string>();
  // The second key can come before the next render.
  const typed = useRef<string>(undefined);
  const type = (digit: string | undefined) => {
    typed.current = digit;
    setProbability(digit);
  };
  const press = (digit: string) => {
    const scale = typed.current === undefined ? model?.probability : model?.impact;
    if (!scale?.some(({ value }) => String(value) === digit)) return false;
    if (typed.current === undefined) type(digit);
    else {
      save({ probability: typed.current, impact: digit });
      type(undefined);
    }
    return true;
  };
  return (
    <p className="hint" role="status">
      {probability
        ? `${words.probability} ${probability}. Type the ${words.impact.toLowerCase()}, 1 to ${model?.impact.length}.`
        : `Type two digits to rate: ${words.probability.toLowerCase()}, then ${words.impact.toLowerCase()}.`}
      {digits.map((digit) => (
        <DigitKey key={digit} digit={digit} press={press} />
      ))}
    </p>
  );
}

function DigitKey({ digit, press }: { digit: string; press: (digit: string) => boolean }) {
  usePreviewKey(digit, () => press(digit));
  return null;
}
