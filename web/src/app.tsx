import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { I18nProvider, RouterProvider } from 'react-aria-components';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { basePath } from './api/client.ts';
import type { Me } from './api/openapi.ts';
import { queryClient } from './api/queries.ts';
import {
  actorId,
  type Scope,
  takeFormer,
  useHasScope,
  useIsLimited,
  useMe,
  useSession,
} from './api/session.ts';
import { Empty } from './components/empty.tsx';
import { lazy } from './components/lazy.tsx';
import { leavePage } from './components/leave-warning.ts';
import { PageLoading } from './components/loading.tsx';
import { ToastRegion, toast } from './components/toast.tsx';
import { Frame } from './layout/frame.tsx';
import { useDestinations, useIsAvailable } from './layout/navigation.ts';
import { PageErrorBoundary } from './layout/page-error-boundary.tsx';
import { Title } from './layout/title.tsx';
import { useLinkToken } from './sign-in/link-token.ts';
import { returnPath } from './sign-in/return-path.ts';

const lazyPage = <Module, Name extends keyof Module>(importModule: () => Promise<Module>, name: Name) =>
  lazy(importModule, name, <PageLoading />);

const Work = lazyPage(() => import('./my-work/page.tsx'), 'WorkPage');
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
const SavedReport = lazyPage(() => import('./report/saved/page.tsx'), 'SavedReportPage');
const Personnel = lazyPage(() => import('./personnel/page.tsx'), 'PersonnelPage');
const Person = lazyPage(() => import('./personnel/person-page.tsx'), 'PersonPage');
const Groups = lazyPage(() => import('./groups/page.tsx'), 'GroupsPage');
const Group = lazyPage(() => import('./groups/group-page.tsx'), 'GroupPage');
const Access = lazyPage(() => import('./access/page.tsx'), 'AccessPage');
const Audit = lazyPage(() => import('./audit/page.tsx'), 'AuditPage');
const Keys = lazyPage(() => import('./keys/page.tsx'), 'KeysPage');
const Webhooks = lazyPage(() => import('./webhooks/page.tsx'), 'WebhooksPage');
const Webhook = lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage');
const Settings = lazyPage(() => import('./settings/page.tsx'), 'SettingsPage');

const Account = lazyPage(() => import('./account/page.tsx'), 'AccountPage');

/** They have no navigation around them. */
const starting = (
  <main className="starting">
    <PageLoading />
  </main>
);
const SignIn = lazy(() => import('./sign-in/page.tsx'), 'SignIn', starting);
const SignedInElsewhere = lazy(() => import('./sign-in/page.tsx'), 'SignedInElsewhere', starting);
const SignInAgain = lazy(() => import('./sign-in/again.tsx'), 'SignInAgain');
const SetUp = lazy(() => import('./sign-in/set-up.tsx'), 'SetUp', starting);
const Invitation = lazy(() => import('./sign-in/invitation.tsx'), 'Invitation', starting);

/** The start page. Until the session is known, the code of both pages loads; the other one is opened soon. */
const Home = Object.assign(() => (useMe().user_id === null ? <Overview /> : <Work />), {
  load: async () => void (await Promise.all([Work.load(), Overview.load()])),
});

type PageRoute = [
  path: string,
  scopes: Scope | Scope[],
  page: ReturnType<typeof lazyPage>,
  limit?: 'unlimited',
];

/**
 * Each page and the scopes it needs, and whether only people and keys without a limit to projects can open it. The service
 * serves the console for the same paths.
 */
const pages: PageRoute[] = [
  ['/', 'projects.read', Home],
  ['/overview', 'projects.read', Overview],
  ['/risks', 'projects.read', Risks],
  ['/risks/:key', 'projects.read', Risk],
  ['/issues', 'projects.read', Issues],
  ['/issues/:key', 'projects.read', Issue],
  ['/tasks', 'projects.read', Tasks],
  ['/tasks/:key', 'projects.read', Task],
  ['/projects', 'projects.read', Projects],
  ['/projects/:key', 'projects.read', Project],
  ['/report', 'projects.read', Report],
  ['/reports/:id', 'projects.read', SavedReport],
  ['/personnel', 'personnel.read', Personnel],
  ['/personnel/:id', 'personnel.read', Person],
  ['/groups', 'personnel.read', Groups],
  ['/groups/:id', 'personnel.read', Group],
  ['/webhooks', 'events.read', Webhooks],
  ['/webhooks/:id', 'events.read', Webhook],
  ['/access', 'keys.read', Access, 'unlimited'],
  ['/audit', ['events.read', 'keys.read'], Audit, 'unlimited'],
  ['/keys', 'keys.read', Keys],
  ['/settings', 'projects.read', Settings, 'unlimited'],
  ['/settings/:name', 'projects.read', Settings, 'unlimited'],
  ['/account', [], Account],
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
      <Router base={basePath} aroundNav={(navigate, to, options) => leavePage(() => navigate(to, options))}>
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
  const [path] = useLocation();
  const hasLink = useLinkToken() !== undefined;
  const frameKey = useFrameKey(session.state === 'signedIn' ? session.me : undefined);
  if (path === '/invitation') return <Invitation />;
  if (session.state === 'unknown') return starting;
  if ((session.state === 'signedOut' && !session.me) || (path === '/sign-in' && hasLink)) {
    const { message, isFailure = false } = session.state === 'signedOut' ? session : {};
    return <SignIn message={message} isFailure={isFailure} />;
  }
  if (path === '/sign-in')
    return new URLSearchParams(location.search).has('done') ? (
      <SignedInElsewhere />
    ) : (
      <Redirect to={returnPath()} replace />
    );
  return (
    <>
      {path === '/set-up' ? (
        <SetUp />
      ) : (
        <Frame key={frameKey}>
          <Pages />
        </Frame>
      )}
      {session.state === 'signedOut' && session.me && (
        <SignInAgain message={session.message} me={session.me} />
      )}
    </>
  );
}

/** Loads the dialog that is shown when the session ends, because then the service may not send it any more. */
function usePreloadedDialog(isSignedIn: boolean): void {
  useEffect(() => {
    if (isSignedIn) setTimeout(() => SignInAgain.load().catch(() => {}), 2_000);
  }, [isSignedIn]);
}

/** The key of the frame, which changes when nothing that was loaded may be kept. */
function useFrameKey(me: Me | undefined): number {
  const last = useRef(me);
  const [frameKey, setFrameKey] = useState(0);
  usePreloadedDialog(me !== undefined);
  useEffect(() => {
    if (me === undefined) return;
    const isOther = last.current && actorId(me) !== actorId(last.current);
    const former = last.current ? null : takeFormer();
    if (former !== null)
      toast(`${me.name} has signed in in this browser. What ${former} had not saved was discarded.`);
    if (last.current && !seesAsMuch(me, last.current)) {
      // What was loaded with more access must not stay.
      queryClient.clear();
      setFrameKey((count) => count + 1);
      if (!isOther) toast('Your access has changed. The page shows what you can see now.');
    } else {
      // The page stays as it is, with its open forms.
      void queryClient.invalidateQueries({
        predicate: ({ state }) => isOther || state.status === 'error',
      });
    }
    last.current = me;
  }, [me]);
  return frameKey;
}

/** Whether somebody has all scopes and all projects of somebody else, or of their own former access. */
const seesAsMuch = (me: Me, other: Me) =>
  other.scopes.every((scope) => me.scopes.includes(scope)) &&
  (me.project_ids === null || (other.project_ids?.every((id) => me.project_ids?.includes(id)) ?? false));

function Pages() {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const [path] = useLocation();
  const home = useDestinations().find(useIsAvailable())?.path;
  if (path === '/' && home !== undefined && home !== '/') return <Redirect to={home} replace />;
  return (
    <PageErrorBoundary key={path}>
      <Switch>
        {pages
          .filter(([, scopes, , limit]) => [scopes].flat().every(hasScope) && !(limit && isLimited))
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
