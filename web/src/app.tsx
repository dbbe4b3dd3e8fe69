import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { I18nProvider, RouterProvider } from 'react-aria-components';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { basePath } from './api/client.ts';
import type { Me } from './api/openapi.ts';
import { queryClient } from './api/queries.ts';
import { type Scope, useHasScope, useSession } from './api/session.ts';
import { Empty } from './components/empty.tsx';
import { lazy } from './components/lazy.tsx';
import { PageLoading } from './components/loading.tsx';
import { ToastRegion } from './components/toast.tsx';
import { Frame } from './layout/frame.tsx';
import { destinations } from './layout/navigation.ts';
import { PageErrorBoundary } from './layout/page-error-boundary.tsx';
import { Title } from './layout/title.tsx';
import { SignIn, SignInAgain } from './sign-in/page.tsx';

const lazyPage = <Module, Name extends keyof Module>(importModule: () => Promise<Module>, name: Name) =>
  lazy(importModule, name, <PageLoading />);

const Overview = lazyPage(() => import('./overview/page.tsx'), 'OverviewPage');
const Risks = lazyPage(() => import('./risks/page.tsx'), 'RisksPage');
const Risk = lazyPage(() => import('./risks/risk-page.tsx'), 'RiskPage');
const Issues = lazyPage(() => import('./issues/page.tsx'), 'IssuesPage');
const Issue = lazyPage(() => import('./issues/issue-page.tsx'), 'IssuePage');
const Tasks = lazyPage(() => import('./tasks/page.tsx'), 'TasksPage');
const Task = lazyPage(() => import('./tasks/task-page.tsx'), 'TaskPage');
const Projects = lazyPage(() => import('./projects/page.tsx'), 'ProjectsPage');
const Project = lazyPage(() => import('./projects/project-page.tsx'), 'ProjectPage');
const Report = lazyPage(() => import('./report/page.tsx'), 'ReportPage');
const Personnel = lazyPage(() => import('./personnel/page.tsx'), 'PersonnelPage');
const Person = lazyPage(() => import('./personnel/person-page.tsx'), 'PersonPage');
const Groups = lazyPage(() => import('./groups/page.tsx'), 'GroupsPage');
const Group = lazyPage(() => import('./groups/group-page.tsx'), 'GroupPage');
const Keys = lazyPage(() => import('./keys/page.tsx'), 'KeysPage');
const Webhooks = lazyPage(() => import('./webhooks/page.tsx'), 'WebhooksPage');
const Webhook = lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage');

/** Each page and the scope it needs. The service serves the console for the same paths. */
const pages: [path: string, scope: Scope, page: ReturnType<typeof lazyPage>][] = [
  ['/', 'projects.read', Overview],
  ['/risks', 'projects.read', Risks],
  ['/risks/:key', 'projects.read', Risk],
  ['/issues', 'projects.read', Issues],
  ['/issues/:key', 'projects.read', Issue],
  ['/tasks', 'projects.read', Tasks],
  ['/tasks/:key', 'projects.read', Task],
  ['/projects', 'projects.read', Projects],
  ['/projects/:key', 'projects.read', Project],
  ['/report', 'projects.read', Report],
  ['/personnel', 'personnel.read', Personnel],
  ['/personnel/:id', 'personnel.read', Person],
  ['/groups', 'personnel.read', Groups],
  ['/groups/:id', 'personnel.read', Group],
  ['/webhooks', 'events.read', Webhooks],
  ['/webhooks/:id', 'events.read', Webhook],
  ['/keys', 'keys.read', Keys],
];

/** Loads the code of the page in the URL while the session is checked. */
export function loadFirstPage(): void {
  const path = location.pathname.slice(basePath.length) || '/';
  const pattern = (route: string) => new RegExp(`^${route.replace(/:\w+/, '[^/]+')}$`);
  // Rendering the page reports the error.
  pages
    .find(([route]) => pattern(route).test(path))?.[2]
    .load()
    .catch(() => {});
}

export const App = () => (
  <I18nProvider locale="en">
    <QueryClientProvider client={queryClient}>
      <Router base={basePath}>
        <AriaRouter>
          <Content />
          <ToastRegion />
        </AriaRouter>
      </Router>
    </QueryClientProvider>
  </I18nProvider>
);

/** Makes React Aria's links navigate with the router. */
function AriaRouter({ children }: { children: React.ReactNode }) {
  const [, navigate] = useLocation();
  return (
    <RouterProvider navigate={(path) => navigate(path)} useHref={(path) => basePath + path}>
      {children}
    </RouterProvider>
  );
}

function Content() {
  const session = useSession();
  const me = session.state === 'signedIn' ? session.me : undefined;
  const last = useRef(me);
  const [frameKey, setFrameKey] = useState(me?.key_id);
  useEffect(() => {
    if (me === undefined) return;
    const isOtherKey = last.current && me.key_id !== last.current.key_id;
    if (last.current && isOtherKey && !seesAsMuch(me, last.current)) {
      // It must not see what the last key has loaded.
      queryClient.clear();
      setFrameKey(me.key_id);
    } else {
      // The page stays as it is, with its open forms.
      void queryClient.invalidateQueries({
        predicate: ({ state }) => isOtherKey || state.status === 'error',
      });
    }
    last.current = me;
  }, [me]);
  if (session.state === 'unknown') return <Starting />;
  if (session.state === 'signedOut' && !session.me) return <SignIn message={session.message} />;
  return (
    <>
      <Frame key={frameKey}>
        <Pages />
      </Frame>
      {session.state === 'signedOut' && <SignInAgain message={session.message} />}
    </>
  );
}

/** Like the contents of `index.html`, which are there before this code. */
const Starting = () => (
  <main className="starting">
    <PageLoading />
  </main>
);

/** Whether a key has all scopes and all projects of another one. */
const seesAsMuch = (me: Me, other: Me) =>
  other.scopes.every((scope) => me.scopes.includes(scope)) &&
  (me.project_ids === null || (other.project_ids?.every((id) => me.project_ids?.includes(id)) ?? false));

function Pages() {
  const hasScope = useHasScope();
  const [path] = useLocation();
  const home = destinations.find(({ scope }) => hasScope(scope))?.path;
  if (path === '/' && home !== undefined && home !== '/') return <Redirect to={home} replace />;
  return (
    <PageErrorBoundary key={path}>
      <Switch>
        {pages
          .filter(([, scope]) => hasScope(scope))
          .map(([path, , Page]) => (
            <Route key={path} path={path} component={Page} />
          ))}
        <Route>
          <Title title="Not found" />
          <Empty title="Page not found, or you don't have access">
            Choose a page from the menu, or search.
          </Empty>
        </Route>
      </Switch>
    </PageErrorBoundary>
  );
}
