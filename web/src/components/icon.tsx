/** Paths on a 16 × 16 grid, in the color of the surrounding text. */
const shapes = {
  work: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 2h3l1-2H14',
  overview: 'M2 9h5V2H2zM9 14h5V7H9zM2 14h5v-3H2zM9 5h5V2H9z',
  risk: 'M8 2.2 14.4 13.5H1.6zM8 6.5v3.2M8 11.6v.1',
  issue: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.6M8 10.9v.1',
  task: 'M2.5 2.5h11v11h-11zM5 8l2.2 2.2L11 6',
  project: 'M2 4.5h4l1.5 1.7H14v7H2z',
  report: 'M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3M6 8h4M6 11h4',
  people:
    'M6 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 6 8zM1.5 13.5c0-2.4 2-3.8 4.5-3.8s4.5 1.4 4.5 3.8M10.5 3a2.5 2.5 0 0 1 0 4.8M12 9.9c1.6.5 2.5 1.7 2.5 3.6',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c0-2.8 2.4-4.3 5.5-4.3s5.5 1.5 5.5 4.3',
  group: 'M8 2v4M3 10V8h10v2M8 6v2M1.5 10h3v3.5h-3zM6.5 10h3v3.5h-3zM11.5 10h3v3.5h-3z',
  webhook: 'M14 2 1.8 6.7 6.8 9.2 9.3 14.2zM14 2 6.8 9.2',
  access: 'M8 1.8 13.5 4v4c0 3-2.3 5.3-5.5 6.2C4.8 13.3 2.5 11 2.5 8V4zM5.5 8l1.8 1.8L10.6 6.4',
  key: 'M5.5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.7 7.8 13.5 2M11 4.5l2 2',
  settings:
    'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  book: 'M3 2.5h8.5a1.5 1.5 0 0 1 1.5 1.5v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 11.5A1.5 1.5 0 0 1 4.5 10.5H13',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  filter: 'M2 3h12l-4.7 5.5v4.2l-2.6 1.3V8.5z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  more: 'M3.5 8v.1M8 8v.1M12.5 8v.1',
  plus: 'M8 3v10M3 8h10',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  right: 'M6 4l4 4-4 4',
  out: 'M6 2.5H3v11h3M10.5 11l3-3-3-3M13.5 8H6',
  export: 'M8 2v8M5 7.5 8 10.5l3-3M2.5 13.5h11',
  import: 'M8 10.5v-8M5 5.5 8 2.5l3 3M2.5 13.5h11',
  print: 'M4.5 6V2h7v4M4.5 11.5h-2.5V6h12v5.5h-2.5M4.5 9.5h7V14h-7z',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5 6.5 12 13 4.5',
  edit: 'M11 2.5 13.5 5 5.5 13H3v-2.5z',
  trash: 'M2.5 4.5h11M6 4.5V2.5h4v2M4 4.5l.6 9h6.8l.6-9',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.5A6 6 0 1 1 6.5 2.5a5 5 0 0 0 7 7z',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  archive: 'M2 3h12v3H2zM3 6v7.5h10V6M6.5 8.5h3',
} as const;

export type IconName = keyof typeof shapes;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[name]} />
  </svg>
);
