import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import { type Scope, useMay } from '../api/session.ts';
import { useDelayed } from '../components/delayed.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { destinations } from './navigation.ts';

type Hit = { path: string; name: string; note?: string | null };
type Section = { id: string; name: string; icon: IconName; hits: Hit[] };

/** To anything by typing a part of it: pages, people, projects, risks and issues by key or title. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const may = useMay();
  const q = useDelayed(text.trim(), 120);
  const { data = [], isFetching } = useQuery({
    queryKey: ['palette', q],
    queryFn: () => find(q, may),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const matches = (name: string) => name.toLowerCase().includes(text.trim().toLowerCase());
  const pages = destinations.filter(({ scope, name }) => may(scope) && matches(name));
  const sections: Section[] = [
    {
      id: 'pages',
      name: 'Pages',
      icon: 'right' as const,
      hits: pages.map(({ path, name }) => ({ path, name })),
    },
    ...(text.trim() === '' ? [] : data),
  ].filter(({ hits }) => hits.length > 0);
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="modal palette">
        <Dialog aria-label="Go to" className="dialog">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField className="palette-input" aria-label="Go to" autoFocus>
              <Icon name="search" />
              <Input placeholder="People, projects, risks, issues…" dir="auto" />
            </SearchField>
            <Menu
              className="palette-hits"
              aria-label="Found"
              items={sections}
              onAction={(path) => {
                onClose();
                navigate(String(path));
              }}
              renderEmptyState={() => (
                <p className="hint">{isFetching ? 'Searching…' : 'Nothing by that name or key.'}</p>
              )}
            >
              {(section) => (
                <MenuSection>
                  <Header>{section.name}</Header>
                  <Collection items={section.hits}>
                    {(hit) => (
                      <MenuItem id={hit.path} className="option" textValue={hit.name}>
                        <Icon name={section.icon} />
                        <bdi>{hit.name}</bdi>
                        {hit.note && <span className="note">{hit.note}</span>}
                      </MenuItem>
                    )}
                  </Collection>
                </MenuSection>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

async function find(q: string, may: (scope: Scope) => boolean): Promise<Section[]> {
  const params = { query: { q, limit: 5 } };
  const [risks, issues, projects, people] = await Promise.all([
    may('projects.read')
      ? answerOf(api.GET('/v1/risks', { params: { query: { q, limit: 5, status: ['all'] } } }))
      : undefined,
    may('projects.read') ? answerOf(api.GET('/v1/issues', { params })) : undefined,
    may('projects.read') ? answerOf(api.GET('/v1/projects', { params })) : undefined,
    may('personnel.read') ? answerOf(api.GET('/v1/personnel', { params })) : undefined,
  ]);
  return [
    {
      id: 'people',
      name: 'People',
      icon: 'people',
      hits: (people?.data ?? []).map((one) => ({
        path: `/personnel/${one.user_id}`,
        name: one.name,
        note: one.title,
      })),
    },
    {
      id: 'projects',
      name: 'Projects',
      icon: 'project',
      hits: (projects?.data ?? []).map((one) => ({
        path: `/projects/${one.key}`,
        name: one.name,
        note: one.key,
      })),
    },
    {
      id: 'risks',
      name: 'Risks',
      icon: 'risk',
      hits: (risks?.data ?? []).map((one) => ({ path: `/risks/${one.key}`, name: one.title, note: one.key })),
    },
    {
      id: 'issues',
      name: 'Open issues',
      icon: 'issue',
      hits: (issues?.data ?? []).map((one) => ({
        path: `/issues/${one.key}`,
        name: one.title,
        note: one.key,
      })),
    },
  ];
}
