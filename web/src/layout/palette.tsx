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
import { api, dataOrThrow } from '../api/client.ts';
import { type Scope, useHasScope } from '../api/session.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { useDebounced } from '../components/use-debounced.ts';
import { destinations } from './navigation.ts';

type Result = { path: string; name: string; note?: string | null };
type Section = { id: string; name: string; icon: IconName; results: Result[] };

/** The command palette: finds pages, people, projects, risks and issues. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const hasScope = useHasScope();
  const q = useDebounced(text.trim(), 120);
  const { data = [], isFetching } = useQuery({
    queryKey: ['palette', q],
    queryFn: () => search(q, hasScope),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const matches = (name: string) => name.toLowerCase().includes(text.trim().toLowerCase());
  const pages = destinations.filter(({ scope, name }) => hasScope(scope) && matches(name));
  const sections: Section[] = [
    {
      id: 'pages',
      name: 'Pages',
      icon: 'right' as const,
      results: pages.map(({ path, name }) => ({ path, name })),
    },
    ...(text.trim() === '' ? [] : data),
  ].filter(({ results }) => results.length > 0);
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
              className="palette-results"
              aria-label="Results"
              items={sections}
              onAction={(path) => {
                onClose();
                navigate(String(path));
              }}
              renderEmptyState={() => <p className="hint">{isFetching ? 'Searching…' : 'No results'}</p>}
            >
              {(section) => (
                <MenuSection>
                  <Header>{section.name}</Header>
                  <Collection items={section.results}>
                    {(result) => (
                      <MenuItem id={result.path} className="option" textValue={result.name}>
                        <Icon name={section.icon} />
                        <bdi>{result.name}</bdi>
                        {result.note && <span className="note">{result.note}</span>}
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

async function search(q: string, hasScope: (scope: Scope) => boolean): Promise<Section[]> {
  const params = { query: { q, limit: 5 } };
  const [risks, issues, projects, people] = await Promise.all([
    hasScope('projects.read')
      ? dataOrThrow(api.GET('/v1/risks', { params: { query: { q, limit: 5, status: ['all'] } } }))
      : undefined,
    hasScope('projects.read') ? dataOrThrow(api.GET('/v1/issues', { params })) : undefined,
    hasScope('projects.read') ? dataOrThrow(api.GET('/v1/projects', { params })) : undefined,
    hasScope('personnel.read') ? dataOrThrow(api.GET('/v1/personnel', { params })) : undefined,
  ]);
  return [
    {
      id: 'people',
      name: 'People',
      icon: 'people',
      results: (people?.data ?? []).map((one) => ({
        path: `/personnel/${one.user_id}`,
        name: one.name,
        note: one.title,
      })),
    },
    {
      id: 'projects',
      name: 'Projects',
      icon: 'project',
      results: (projects?.data ?? []).map((one) => ({
        path: `/projects/${one.key}`,
        name: one.name,
        note: one.key,
      })),
    },
    {
      id: 'risks',
      name: 'Risks',
      icon: 'risk',
      results: (risks?.data ?? []).map((one) => ({
        path: `/risks/${one.key}`,
        name: one.title,
        note: one.key,
      })),
    },
    {
      id: 'issues',
      name: 'Open issues',
      icon: 'issue',
      results: (issues?.data ?? []).map((one) => ({
        path: `/issues/${one.key}`,
        name: one.title,
        note: one.key,
      })),
    },
  ];
}
