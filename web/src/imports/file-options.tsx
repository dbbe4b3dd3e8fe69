import { useId } from 'react';
import type { TableChoices } from './run-import.ts';
import { type Settings, withoutColumns } from './settings.ts';

type Props = {
  table: TableChoices | undefined;
  /** Whether the file has bytes that its encoding does not have. */
  hasInvalidBytes: boolean;
  settings: Settings;
  onChange: (settings: Settings) => void;
};

/** The encodings that spreadsheets write, besides UTF-8. */
const encodings: Record<string, string> = {
  'windows-1252': 'Western European',
  'windows-1250': 'Central European',
  'windows-1251': 'Cyrillic',
  'windows-1253': 'Greek',
  'windows-1254': 'Turkish',
  'windows-1255': 'Hebrew',
  'windows-1256': 'Arabic',
  'windows-1257': 'Baltic',
  macintosh: 'Western European (Mac)',
  shift_jis: 'Japanese',
  gb18030: 'Chinese (simplified)',
  big5: 'Chinese (traditional)',
  'euc-kr': 'Korean',
};

/** The sheet of a workbook, the line with the names of the columns, and the encoding of a text file. */
export function FileOptions({ table, hasInvalidBytes, settings, onChange }: Props) {
  const charset = settings.charset ?? table?.charset ?? undefined;
  const isOtherEncoding = hasInvalidBytes || (charset !== undefined && !charset.startsWith('utf-'));
  const id = useId();
  const sheets = table?.sheets ?? [];
  const lines = table?.first_lines ?? [];
  const headerRow = settings.header_row ?? table?.header_row ?? 0;
  // What was chosen for the columns of one table does not apply to another.
  const choose = (choice: Partial<Settings>) => onChange({ ...withoutColumns(settings), ...choice });
  return (
    <>
      {isOtherEncoding && (
        <p className="import-encoding">
          <label htmlFor={`${id}-encoding`}>This file isn't UTF-8. Encoding:</label>
          <select
            id={`${id}-encoding`}
            value={charset !== undefined && charset in encodings ? charset : ''}
            onChange={({ target }) => choose({ charset: target.value })}
          >
            {!(charset !== undefined && charset in encodings) && (
              <option value="" disabled>
                Choose encoding
              </option>
            )}
            {Object.entries(encodings).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </p>
      )}
      {(sheets.length > 1 || lines.length > 1) && (
        <div className="import-table">
          {sheets.length > 1 && (
            <span className="import-choice">
              <label htmlFor={`${id}-sheet`}>Sheet</label>
              <select
                id={`${id}-sheet`}
                value={settings.sheet ?? table?.sheet ?? ''}
                onChange={({ target }) => {
                  const { header_row: _, ...others } = withoutColumns(settings);
                  onChange({ ...others, sheet: target.value });
                }}
              >
                {sheets.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </span>
          )}
          {lines.length > 1 && (
            <span className="import-choice">
              <label htmlFor={`${id}-line`}>Column names</label>
              <select
                id={`${id}-line`}
                value={headerRow}
                onChange={({ target }) => choose({ header_row: Number(target.value) })}
              >
                {lines.map(({ line, text }) => (
                  <option key={line} value={line}>
                    Line {line}: {text}
                  </option>
                ))}
                {!lines.some(({ line }) => line === headerRow) && (
                  <option value={headerRow}>Line {headerRow}</option>
                )}
              </select>
            </span>
          )}
        </div>
      )}
    </>
  );
}
