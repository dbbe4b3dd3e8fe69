import { useLocation, useParams } from 'wouter';
import { Tabs } from '../components/tabs.tsx';
import { Title } from '../layout/title.tsx';
import { CategorySettings } from './categories.tsx';
import { OrganizationSettings } from './organization.tsx';
import { RiskModelSettings } from './risk-model.tsx';

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
          'risk-model': { title: 'Risk model', content: <RiskModelSettings /> },
          categories: { title: 'Categories', content: <CategorySettings /> },
        }}
        selected={name === 'categories' || name === 'risk-model' ? name : 'organization'}
        onSelect={(tab) => navigate(`/settings/${tab}`)}
      />
    </>
  );
}
