import { shortened } from '../../core/text.ts';
import type { Row } from '../../formats/rows.ts';
import type { ImportSummary } from '../schema.ts';

/** The sheet and the header that were read, and those that can be chosen instead. */
export const describeTable = (
  header: Row | undefined,
): Pick<ImportSummary, 'sheet' | 'sheets' | 'header_row' | 'first_lines'> => ({
  sheet: header?.sheet?.name ?? null,
  sheets: (header?.sheet?.visible ?? []).slice(0, maxSheets),
  header_row: header?.line ?? null,
  first_lines: (header?.firstLines ?? []).map(({ line, texts }) => ({
    line,
    text: shortened(texts.slice(0, maxTexts).join(', ')),
  })),
});

const maxTexts = 50;
const maxSheets = 100;
