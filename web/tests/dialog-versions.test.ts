import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../src');

/** The components with a dialog that send the version of one of their props, which the page can read again meanwhile. */
function liveVersions(source: string): string[] {
  return source.split(/^(?=(?:export )?(?:function|const) [A-Z])/m).flatMap((component) => {
    if (!/<(Dialog|Confirm|Form|DialogTrigger)\b/.test(component)) return [];
    const [, parameters = ''] = /^[^(]*\(\s*\{([^}]*)\}/.exec(component) ?? [];
    // `risk: live` is used by the name `live`.
    const props = parameters.split(',').map((one) => one.split(/[:=]/)[one.includes(':') ? 1 : 0]?.trim());
    const [, name = ''] = /(?:function|const) (\w+)/.exec(component) ?? [];
    const sent = component.matchAll(
      /\b(?:ifMatch|patch|deleteItem|useIssueStatus|useChangeStatus)\((?:'\w+', |\w+, (?=\w+\)))?(\w+)/g,
    );
    return [...sent].flatMap(([, version]) => (props.includes(version) ? [`${name}: ${version}`] : []));
  });
}

test('no dialog sends the version of an item that the page may read again while it is open', () => {
  const component = (parameters: string) =>
    `export function Close({ ${parameters}, onClose }: Props) {\n  patch(risk, {});\n  return <Dialog />;\n}\n`;
  assert.deepEqual(liveVersions(component('risk')), ['Close: risk']);
  assert.deepEqual(liveVersions(component('risk: live')), []);
  const found = globSync('**/*.tsx', { cwd: folder }).flatMap((file) =>
    liveVersions(readFileSync(join(folder, file), 'utf8')).map((one) => `${file} ${one}`),
  );
  assert.deepEqual(found, []);
});
