declare const htm: { bind<Node>(h: (...values: any[]) => Node): (strings: TemplateStringsArray, ...values: any[]) => any };
export default htm;
