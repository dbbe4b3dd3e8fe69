import { type ReactNode, useEffect, useRef } from 'react';
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
            <TabLabel isSelected={name === selected}>{tabs[name].title}</TabLabel>
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

/** On a narrow screen the tabs scroll sideways. Keeps the selected one in view, also when counts widen the others. */
function TabLabel({ isSelected, children }: { isSelected: boolean; children: ReactNode }) {
  const label = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const tab = label.current?.closest('[role=tab]');
    const list = tab?.closest('[role=tablist]');
    if (!isSelected || !tab || !list) return;
    const observer = new ResizeObserver(() => {
      const [inner, outer] = [tab.getBoundingClientRect(), list.getBoundingClientRect()];
      if (inner.right > outer.right) list.scrollLeft += inner.right - outer.right;
      else if (inner.left < outer.left) list.scrollLeft -= outer.left - inner.left;
    });
    for (const one of [list, ...list.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [isSelected]);
  return <span ref={label}>{children}</span>;
}
