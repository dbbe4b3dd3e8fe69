/** The names of months, twelve for each language or case. Abbreviations are their beginnings. */
export const months = [
  'January, February, March, April, May, June, July, August, September, October, November, December',
  'Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober, November, Dezember',
  'janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre',
  'enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre',
  'gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre, novembre, dicembre',
  'janeiro, fevereiro, março, abril, maio, junho, julho, agosto, setembro, outubro, novembro, dezembro',
  'januari, februari, maart, april, mei, juni, juli, augustus, september, oktober, november, december',
  'styczeń, luty, marzec, kwiecień, maj, czerwiec, lipiec, sierpień, wrzesień, październik, listopad, grudzień',
  'stycznia, lutego, marca, kwietnia, maja, czerwca, lipca, sierpnia, września, października, listopada, grudnia',
].map((names) => names.split(', '));
