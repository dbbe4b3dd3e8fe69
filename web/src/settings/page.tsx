import { useLocation, useParams } from 'wouter';
import { Tabs } from '../components/tabs.tsx';
import { Title } from '../layout/title.tsx';
import { CategorySettings } from './categories.tsx';
import { OrganizationSettings } from './organization.tsx';

/** What the organization decides for all projects. */
export function SettingsPage() {
  const { name } = useParams<{ name?: string }>();
  const [, navigate] = useLocation();
  return (
    <>
      <Title title="Settings" />
      <Tabs
        label="Settings"
        tabs={{
          organization: { title: 'Organization', content: <OrganizationSettings /> },
          categories: { title: 'Categories', content: <CategorySettings /> },
        }}
        selected={name === 'categories' ? name : 'organization'}
        onSelect={(tab) => navigate(`/settings/${tab}`)}
      />
    </>
  );
}
