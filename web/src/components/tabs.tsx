import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { formatNumber } from '../format.ts';
import './tabs.css';

type Props<Name extends string> = {
  label: string;
  tabs: Record<Name, { title: string; count?: number | undefined; content: ReactNode }>;
  selected: NoInfer<Name>;
  onSelect: (name: Name) => void;
};

/** Arrow keys move between the tabs and Enter selects one, so that passing over a tab loads nothing. */
export const Tabs = <Name extends string>({ label, tabs, selected, onSelect }: Props<Name>) => {
  const names = Object.keys(tabs) as Name[];
  return (
    <AriaTabs
      keyboardActivation="manual"
      selectedKey={selected}
      onSelectionChange={(name) => onSelect(name as Name)}
    >
      <TabList className="tab-list" aria-label={label}>
        {names.map((name) => (
          <Tab key={name} id={name} className="tab">
            {tabs[name].title}
            {tabs[name].count !== undefined && (
              <span className="count">{formatNumber(tabs[name].count)}</span>
            )}
          </Tab>
        ))}
      </TabList>
      {names.map((name) => (
        <TabPanel key={name} id={name} className="tab-panel">
          {tabs[name].content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
};
