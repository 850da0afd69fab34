/* a remark */
int one(int a, int b);
int two(int a, int b);
