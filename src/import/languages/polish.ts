import type { Language } from './language.ts';

const status = 'stan, stan obecny';
const raised =
  'data utworzenia, utworzono, data, data zgłoszenia, zgłoszono, data identyfikacji, data rejestracji';
const due = 'termin, termin wykonania, termin realizacji, data zakończenia';
const number = 'numer, nr, lp, lp., identyfikator, sygnatura, nr ref.';
const description = 'opis, szczegóły, uwagi, komentarz, komentarze, notatki';
const responsible = 'odpowiedzialny, osoba odpowiedzialna, właściciel, odpowiedzialna';
const assignee = 'przypisany do, przypisane do, przypisano do, wykonawca, przypisana do';

export const polish: Language = {
  nobody: 'nikt, brak, nieprzypisany, nie przypisano, do ustalenia, wakat',
  statusWords: 'stan, aktywny, nieaktywny, zablokowany, zarchiwizowany',
  projectColumns: 'projekt, nazwa projektu',
  firstName: 'imię',
  lastName: 'nazwisko',
  inactive: { columns: 'nieaktywny, zablokowany, zwolniony', yes: 'tak, prawda', no: 'nie, fałsz' },
  rejected: 'odrzucony, odrzucone, odrzucona',
  probability: {
    1: 'bardzo niski, bardzo niska, bardzo niskie, bardzo mało prawdopodobne, rzadkie',
    2: 'niski, niska, niskie, mało prawdopodobne',
    3: 'średni, średnia, średnie, umiarkowane, możliwe',
    4: 'wysoki, wysoka, wysokie, prawdopodobne',
    5: 'bardzo wysoki, bardzo wysoka, bardzo wysokie, bardzo prawdopodobne, prawie pewne',
  },
  impact: {
    1: 'bardzo niski, bardzo niska, bardzo niskie, pomijalny, nieistotny, bardzo mały',
    2: 'niski, niska, niskie, mały, niewielki',
    3: 'średni, średnia, średnie, umiarkowany',
    4: 'wysoki, wysoka, wysokie, duży',
    5: 'bardzo wysoki, bardzo wysoka, bardzo wysokie, krytyczny, katastrofalny, bardzo duży',
  },
  levels: {
    low: 'niski, niskie, bardzo niski, zielony',
    medium: 'średni, średnie, umiarkowany, żółty',
    high: 'wysoki, wysokie, czerwony',
    critical: 'krytyczny, krytyczne, bardzo wysoki',
  },
  person: {
    sheets: 'osoby, pracownicy, personel',
    columns: {
      name: 'imię i nazwisko, nazwisko i imię, pracownik, nazwa',
      email: 'adres e-mail, adres email, poczta, e-mail służbowy',
      title: 'stanowisko, funkcja',
      department: 'dział, departament, jednostka organizacyjna, wydział',
      location: 'lokalizacja, miejsce pracy, biuro, miasto',
      phone: 'telefon, numer telefonu, komórka, tel., telefon służbowy',
      time_zone: 'strefa czasowa',
      kind: 'rodzaj umowy, typ umowy, forma zatrudnienia, rodzaj zatrudnienia',
      manager_user_id: 'przełożony, kierownik, bezpośredni przełożony',
      skills: 'umiejętności, kompetencje',
      start_on: 'data zatrudnienia, data rozpoczęcia, zatrudniony od, początek',
      end_on: 'data zwolnienia, data zakończenia, koniec, koniec umowy',
      status: `${status}, aktywny`,
      external_id: 'numer pracownika, nr pracownika, numer ewidencyjny, identyfikator',
    },
    values: {
      status: {
        active: 'aktywny, aktywna, zatrudniony, zatrudniona, tak, na urlopie',
        inactive: 'nieaktywny, nieaktywna, zwolniony, zwolniona, zablokowany, nie',
      },
      kind: {
        human: 'pracownik, umowa o pracę, etat, pełny etat, stażysta, wewnętrzny',
        external: 'zewnętrzny, zewnętrzna, podwykonawca, kontraktor, współpracownik zewnętrzny',
      },
    },
  },
  group: {
    sheets: 'grupa, grupy, zespoły',
    columns: {
      name: 'grupa, nazwa grupy, zespół, nazwa zespołu',
      description,
      parent_id: 'grupa nadrzędna',
      lead_user_id: 'kierownik, lider',
      member_user_ids: 'członkowie, członek',
    },
  },
  project: {
    sheets: 'projekty',
    columns: {
      name: 'projekt, nazwa projektu, tytuł, nazwa',
      description: `${description}, cel`,
      status,
      lead_user_id: 'kierownik projektu, odpowiedzialny',
      start_on: 'początek, data rozpoczęcia',
      due_on: `koniec, ${due}`,
      external_id: `${number}, numer projektu`,
    },
  },
  risk: {
    sheets: 'ryzyko, ryzyka',
    columns: {
      title: 'ryzyko, tytuł, temat, nazwa ryzyka, nazwa',
      description: `${description}, opis ryzyka, przyczyna, przyczyny`,
      kind: 'rodzaj, rodzaj ryzyka',
      category: 'kategoria, kategoria ryzyka, obszar',
      probability: 'prawdopodobieństwo, prawdopodobieństwo wystąpienia',
      impact: 'wpływ, skutek, skutki, oddziaływanie',
      score: 'wartość ryzyka, ocena ryzyka',
      level: 'poziom, poziom ryzyka',
      status,
      strategy: 'strategia, strategia reakcji, postępowanie z ryzykiem',
      response_plan:
        'działania, plan działań, plan reakcji, środki zaradcze, plan działania, działania zaradcze',
      contingency_plan: 'plan awaryjny',
      trigger: 'wyzwalacz, wskaźnik',
      owner_name: `${responsible}, właściciel ryzyka, ${assignee}`,
      raised_by_user_id: 'zgłoszone przez, zgłaszający, autor, utworzone przez',
      raised_on: raised,
      due_on: due,
      review_on: 'data przeglądu, następny przegląd, przegląd',
      closure_reason: 'powód zamknięcia',
      lessons: 'wnioski',
      external_id: `${number}, numer ryzyka, ID ryzyka`,
    },
    values: {
      status: {
        open: 'otwarte, nowe, zidentyfikowane, aktywne',
        mitigating: 'w trakcie, w toku, w realizacji, ograniczane',
        monitoring: 'monitorowane, obserwowane, pod obserwacją',
        accepted: 'zaakceptowane',
        materialized: 'zmaterializowane',
        closed: 'zamknięte, zakończone',
      },
      strategy: {
        avoid: 'unikać, unikanie',
        mitigate: 'ograniczać, ograniczanie, redukcja, redukować, łagodzenie',
        transfer: 'przenieść, przeniesienie, transfer ryzyka',
        accept: 'akceptować, akceptacja',
        escalate: 'eskalować, eskalacja',
        exploit: 'wykorzystać, wykorzystanie',
        enhance: 'wzmocnić, wzmocnienie',
        share: 'dzielić, współdzielenie',
      },
      kind: { threat: 'ryzyko, zagrożenie', opportunity: 'szansa' },
    },
  },
  issue: {
    sheets: 'problemy, zgłoszenia',
    columns: {
      title: 'tytuł, temat, zagadnienie, zgłoszenie, podsumowanie, nazwa',
      description: `${description}, opis problemu`,
      severity: 'ważność, waga, dotkliwość',
      priority: 'priorytet, pilność',
      status,
      resolution: 'rozwiązanie',
      resolution_note: 'opis rozwiązania',
      owner_name: responsible,
      assignee_name: assignee,
      raised_by_user_id: 'zgłoszone przez, zgłaszający, autor, utworzone przez',
      raised_on: raised,
      due_on: due,
      blocked_reason: 'zablokowane przez',
      external_id: `${number}, klucz`,
      source_url: 'odnośnik',
    },
    values: {
      status: {
        open: 'otwarte, otwarty, nowe, nowy, do zrobienia',
        in_progress: 'w trakcie, w toku, w realizacji, przypisane',
        blocked: 'zablokowane, zablokowany, oczekujące, wstrzymane',
        resolved: 'rozwiązane, rozwiązany',
        closed: 'zamknięte, zamknięty, anulowane',
      },
      severity: {
        critical: 'krytyczny, krytyczna, krytyczne, bardzo wysoka, bardzo wysoki, bardzo wysokie',
        high: 'wysoki, wysoka, wysokie',
        medium: 'średni, średnia, średnie',
        low: 'niski, niska, niskie',
      },
      priority: {
        urgent: 'pilny, pilne, pilna, krytyczny, natychmiastowy, bardzo wysoki',
        high: 'wysoki, wysoka',
        normal: 'normalny, średni, średnia',
        low: 'niski, niska',
      },
    },
  },
  task: {
    sheets: 'zadanie, zadania, działania',
    columns: {
      title: 'zadanie, tytuł, temat, nazwa zadania, czynność, nazwa',
      description: `${description}, opis zadania`,
      kind: 'rodzaj',
      status: `${status}, postęp, % ukończenia`,
      assignee_name: `${assignee}, ${responsible}, kto`,
      start_on: 'początek, data rozpoczęcia',
      due_on: `${due}, koniec`,
      external_id: number,
    },
    values: {
      status: {
        todo: 'do zrobienia, otwarte, nowe, nierozpoczęte, zaplanowane',
        in_progress: 'w trakcie, w toku, w realizacji, rozpoczęte',
        blocked: 'zablokowane, oczekujące, wstrzymane',
        done: 'zrobione, zakończone, ukończone, gotowe, wykonane, zamknięte, tak',
        cancelled: 'anulowane, porzucone',
      },
    },
  },
};
