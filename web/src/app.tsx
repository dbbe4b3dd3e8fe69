import { QueryClientProvider } from '@tanstack/react-query';
import { I18nProvider, RouterProvider } from 'react-aria-components';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { basePath } from './api/client.ts';
import { queryClient } from './api/queries.ts';
import { type Scope, useMay, useSession } from './api/session.ts';
import { Empty } from './components/empty.tsx';
import { later } from './components/later.tsx';
import { Loading } from './components/loading.tsx';
import { ToastRegion } from './components/toast.tsx';
import { Frame } from './layout/frame.tsx';
import { destinations } from './layout/navigation.ts';
import { PageErrors } from './layout/page-errors.tsx';
import { Title } from './layout/title.tsx';
import { SignIn } from './sign-in/page.tsx';

const page = (load: () => Promise<React.ComponentType>) => later(load, <Loading />);

const Overview = page(async () => (await import('./overview/page.tsx')).OverviewPage);
const Risks = page(async () => (await import('./risks/page.tsx')).RisksPage);
const Risk = page(async () => (await import('./risks/risk-page.tsx')).RiskPage);
const Issues = page(async () => (await import('./issues/page.tsx')).IssuesPage);
const Issue = page(async () => (await import('./issues/issue-page.tsx')).IssuePage);
const Projects = page(async () => (await import('./projects/page.tsx')).ProjectsPage);
const Project = page(async () => (await import('./projects/project-page.tsx')).ProjectPage);
const Personnel = page(async () => (await import('./personnel/page.tsx')).PersonnelPage);
const Person = page(async () => (await import('./personnel/person-page.tsx')).PersonPage);
const Groups = page(async () => (await import('./groups/page.tsx')).GroupsPage);
const Group = page(async () => (await import('./groups/group-page.tsx')).GroupPage);
const Keys = page(async () => (await import('./keys/page.tsx')).KeysPage);

/** Each page, and the scope without which it is not there. The service knows the same paths. */
const pages: [path: string, scope: Scope, page: ReturnType<typeof page>][] = [
  ['/', 'projects.read', Overview],
  ['/risks', 'projects.read', Risks],
  ['/risks/:key', 'projects.read', Risk],
  ['/issues', 'projects.read', Issues],
  ['/issues/:key', 'projects.read', Issue],
  ['/projects', 'projects.read', Projects],
  ['/projects/:key', 'projects.read', Project],
  ['/personnel', 'personnel.read', Personnel],
  ['/personnel/:id', 'personnel.read', Person],
  ['/groups', 'personnel.read', Groups],
  ['/groups/:id', 'personnel.read', Group],
  ['/keys', 'keys.read', Keys],
];

/** Fetches the page that the address names, while it is still being asked who is signed in. */
export function loadFirstPage(): void {
  const path = location.pathname.slice(basePath.length) || '/';
  const pattern = (route: string) => new RegExp(`^${route.replace(/:\w+/, '[^/]+')}$`);
  // What goes wrong is told when the page is shown.
  pages
    .find(([route]) => pattern(route).test(path))?.[2]
    .load()
    .catch(() => {});
}

export const App = () => (
  <I18nProvider locale="en">
    <QueryClientProvider client={queryClient}>
      <Router base={basePath}>
        <LinkedToRouter>
          <Content />
          <ToastRegion />
        </LinkedToRouter>
      </Router>
    </QueryClientProvider>
  </I18nProvider>
);

function LinkedToRouter({ children }: { children: React.ReactNode }) {
  const [, navigate] = useLocation();
  return <RouterProvider navigate={(path) => navigate(path)}>{children}</RouterProvider>;
}

function Content() {
  const session = useSession();
  if (session.state === 'unknown') return null;
  if (session.state === 'out') return <SignIn sentence={session.sentence} />;
  return (
    <Frame>
      <Pages />
    </Frame>
  );
}

function Pages() {
  const may = useMay();
  const [path] = useLocation();
  const home = destinations.find(({ scope }) => may(scope))?.path;
  if (path === '/' && home !== undefined && home !== '/') return <Redirect to={home} replace />;
  return (
    <PageErrors key={path}>
      <Switch>
        {pages
          .filter(([, scope]) => may(scope))
          .map(([path, , Page]) => (
            <Route key={path} path={path} component={Page} />
          ))}
        <Route>
          <Title title="Not found" />
          <Empty title="There is nothing here for this key">
            Either the address is wrong, or your key lacks the scope it needs. Choose a page on the left, or
            press ⌘K.
          </Empty>
        </Route>
      </Switch>
    </PageErrors>
  );
}
