import type { Dataset } from './dataset.ts';
import type { ProjectContext } from './projects.ts';
import * as words from './words.ts';

/** Replaces the placeholders in a text with names from one project. */
export type FillTemplate = (text: string) => string;

type Template = words.Suitability & { title: string };

/**
 * Returns a function that picks templates for the project in random order. Each template is used once before any is
 * repeated. Picking is retried while the filled title is already in use.
 */
export function createTemplatePicker<T extends Template>(
  dataset: Dataset,
  { profile }: ProjectContext,
  templates: readonly T[],
) {
  const eligible = templates.filter((template) => {
    const minSubjects = template.title.includes('{other}') ? 2 : 1;
    const suitsDomain = template.domains?.includes(profile.domain) !== false;
    return suitsDomain && findSubjects(profile, template).length >= minSubjects;
  });
  const usedTitles = new Set<string>();
  let remaining: T[] = [];
  return function pickTemplate(retries = 50): { template: T; fill: FillTemplate } {
    if (remaining.length === 0) remaining = dataset.random.sample(eligible, eligible.length);
    const template = remaining.pop() as T;
    const fill = createFill(dataset, profile, template);
    const title = fill(template.title);
    if (usedTitles.has(title) && retries > 0) return pickTemplate(retries - 1);
    usedTitles.add(title);
    return { template, fill };
  };
}

/** Lists the project's subjects that have one of the template's traits; a template without traits matches all. */
const findSubjects = ({ things }: words.ProjectProfile, { traits }: Template) =>
  Object.entries(things).flatMap(([trait, subjects]) =>
    traits?.some((one) => one === trait) === false ? [] : subjects,
  );

function createFill({ random }: Dataset, profile: words.ProjectProfile, template: Template): FillTemplate {
  const [subject = '', secondSubject = ''] = random.sample(findSubjects(profile, template), 2);
  const values: Record<string, string> = {
    thing: subject,
    other: secondSubject,
    place: random.pick(profile.places),
    supplier: random.pick(profile.suppliers),
    scarce: profile.scarce,
    authority: random.pick(words.authorities[profile.domain]),
  };
  return (text) =>
    text
      .replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)
      .replace(/(^|\. )\p{Ll}/gu, (start) => start.toUpperCase());
}
