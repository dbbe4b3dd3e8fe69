import { Title } from '../layout/title.tsx';
import { samples } from './samples.tsx';
import './design.css';

const themes = ['light', 'dark'] as const;

/** Every component in both themes, to look at them together. No other page links here. */
export const DesignPage = () => (
  <>
    <Title title="Design" />
    <div className="design">
      {themes.map((theme) => (
        <section key={theme} className="design-theme" style={{ colorScheme: theme }} aria-label={theme}>
          {samples.map(({ name, render }) => (
            <div key={name} className="design-sample">
              <h2>{name}</h2>
              {render(theme)}
            </div>
          ))}
        </section>
      ))}
    </div>
  </>
);
